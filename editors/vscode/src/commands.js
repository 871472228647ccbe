// What the extension does apart from the editor's interface: command lines and settings. No `vscode` here, so that node can test it.
'use strict';

/** What the server is told when it starts. */
function serverSettings(configuration) {
  const settings = {};
  for (const name of ['defines', 'memory', 'time']) {
    const value = configuration.get(name);
    if (value !== undefined) {
      settings[name] = value;
    }
  }
  return settings;
}

/** The command line of a check in a terminal. */
function checkCommand(program, model, definesOrArguments = [], more = []) {
  const defines = definesOrArguments.flatMap((define) => ['-D', define]);
  return [program, 'check', model, ...defines, ...more];
}

/** The command line of the explorer, from what the server says, with the program that the user chose. */
function exploreCommand(program, answer) {
  if (!answer || !Array.isArray(answer.command) || answer.command.length === 0) {
    throw new Error('the server gave no command line');
  }
  return [program, ...answer.command.slice(1)];
}

/** The address that the explorer prints when it is ready; only this machine's own. */
function explorerAddress(line) {
  const found = /http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\S*/.exec(line);
  return found ? found[0] : undefined;
}

/** The page that shows the explorer in a panel. */
function panelPage(address) {
  const origin = new URL(address).origin;
  const escaped = address.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
  return `<!DOCTYPE html>
<html>
<head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; frame-src ${origin}; style-src 'unsafe-inline'">
<style>html, body, iframe { width: 100%; height: 100%; margin: 0; padding: 0; border: 0 }</style>
</head>
<body><iframe src="${escaped}"></iframe></body>
</html>`;
}

module.exports = { serverSettings, checkCommand, exploreCommand, explorerAddress, panelPage };
