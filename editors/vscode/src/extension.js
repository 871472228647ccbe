// The extension: starts `volee lsp`, adds commands and tasks, shows the explorer in a panel.
'use strict';

const { spawn } = require('node:child_process');
const path = require('node:path');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');
const { serverSettings, checkCommand, exploreCommand, explorerAddress, panelPage } = require('./commands');

let client;

function configuration() {
  return vscode.workspace.getConfiguration('volee');
}

async function start() {
  const program = configuration().get('path') || 'volee';
  client = new LanguageClient(
    'volee',
    'volee',
    { command: program, args: ['lsp'] },
    {
      documentSelector: [{ language: 'promela' }],
      initializationOptions: serverSettings(configuration()),
      middleware: { executeCommand: onCommand },
    },
  );
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`volee does not start (${error.message}); set "volee.path" to the program.`);
  }
}

// The lens "explore" runs on the server, which answers with a command line; the panel is the editor's.
async function onCommand(command, args, next) {
  const answer = await next(command, args);
  if (command === 'volee.explore') {
    explore(answer);
  }
  return answer;
}

function explore(answer) {
  const [program, ...rest] = exploreCommand(configuration().get('path') || 'volee', answer);
  const panel = vscode.window.createWebviewPanel('volee', 'volee: explore', vscode.ViewColumn.Beside, {
    enableScripts: true,
    retainContextWhenHidden: true,
  });
  const child = spawn(program, rest, { cwd: path.dirname(rest[1] || '.') });
  let said = '';
  const listen = (chunk) => {
    said += chunk;
    const address = explorerAddress(said);
    if (address && !panel.webview.html) {
      panel.webview.html = panelPage(address);
    }
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  child.on('error', (error) => vscode.window.showErrorMessage(`volee: ${error.message}`));
  child.on('exit', (code) => {
    if (code && !panel.webview.html) {
      vscode.window.showErrorMessage(`volee explore: ${said.trim() || `ended with ${code}`}`);
      panel.dispose();
    }
  });
  panel.onDidDispose(() => child.kill());
}

function current() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== 'promela') {
    vscode.window.showInformationMessage('Open a Promela model first.');
    return undefined;
  }
  return editor.document;
}

function onModel(command) {
  return () => {
    const document = current();
    return document && vscode.commands.executeCommand(command, { uri: document.uri.toString(), property: null });
  };
}

function task(definition, scope) {
  const program = configuration().get('path') || 'volee';
  const defines = configuration().get('defines') || [];
  const [command, ...args] = checkCommand(program, definition.model, defines, definition.arguments || []);
  const name = `check ${path.basename(definition.model)}`;
  return new vscode.Task(definition, scope, name, 'volee', new vscode.ProcessExecution(command, args), '$volee');
}

async function checkAll() {
  const document = current();
  if (!document) {
    return;
  }
  const definition = { type: 'volee', model: document.uri.fsPath, arguments: ['--property', 'all'] };
  await vscode.tasks.executeTask(task(definition, vscode.TaskScope.Workspace));
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('volee.checkModel', onModel('volee.check')),
    vscode.commands.registerCommand('volee.exploreModel', onModel('volee.explore')),
    vscode.commands.registerCommand('volee.checkAll', checkAll),
    vscode.commands.registerCommand('volee.restart', async () => {
      await client?.stop();
      await start();
    }),
    vscode.tasks.registerTaskProvider('volee', {
      provideTasks: async () => {
        const models = await vscode.workspace.findFiles('**/*.pml', '**/node_modules/**', 100);
        return models.map((uri) => task({ type: 'volee', model: uri.fsPath }, vscode.TaskScope.Workspace));
      },
      resolveTask: (given) => task(given.definition, given.scope ?? vscode.TaskScope.Workspace),
    }),
  );
  await start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
