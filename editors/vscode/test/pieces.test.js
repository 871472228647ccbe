// The pieces of the extension that need no display: what it declares, its grammar, its command lines, and the server it starts.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { spawn } = require('node:child_process');
const test = require('node:test');

const root = path.join(__dirname, '..');
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const commands = require('../src/commands');

test('every file that the manifest names is there and is JSON where it should be', () => {
  const { languages, grammars, snippets } = manifest.contributes;
  const files = [languages[0].configuration, grammars[0].path, snippets[0].path];
  for (const file of files) {
    JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
  }
  assert.ok(fs.existsSync(path.join(root, manifest.main.replace('dist', 'src'))));
});

test('every command that is declared is registered', () => {
  const source = fs.readFileSync(path.join(root, 'src', 'extension.js'), 'utf8');
  for (const { command } of manifest.contributes.commands) {
    assert.ok(source.includes(`registerCommand('${command}'`), command);
  }
});

test('every regular expression of the grammar and the settings can be read', () => {
  const grammar = JSON.parse(fs.readFileSync(path.join(root, manifest.contributes.grammars[0].path), 'utf8'));
  const all = [];
  const walk = (node) => {
    for (const [key, value] of Object.entries(node)) {
      if (['match', 'begin', 'end'].includes(key) && typeof value === 'string') {
        all.push(value);
      } else if (value && typeof value === 'object') {
        walk(value);
      }
    }
  };
  walk(grammar);
  assert.ok(all.length > 20);
  all.forEach((expression) => new RegExp(expression));
  const included = JSON.stringify(grammar).match(/"#\w+"/g).map((name) => name.slice(2, -1));
  included.forEach((name) => assert.ok(grammar.repository[name], name));
});

test('the grammar colours what it should', () => {
  const grammar = JSON.parse(fs.readFileSync(path.join(root, manifest.contributes.grammars[0].path), 'utf8'));
  const first = (name, text) => {
    const found = grammar.repository[name].patterns.find((p) => new RegExp(`^(?:${p.match})`).test(text));
    return found && found.name;
  };
  assert.strictEqual(first('keywords', 'atomic'), 'keyword.control.promela');
  assert.strictEqual(first('keywords', 'byte'), 'storage.type.promela');
  assert.strictEqual(first('keywords', '_pid'), 'constant.language.promela');
  assert.strictEqual(first('keywords', 'bytes'), undefined);
  assert.match('  end_1: skip', new RegExp(grammar.repository.labels.match));
  assert.doesNotMatch('  :: x', new RegExp(grammar.repository.labels.match));
  assert.doesNotMatch('x := 1', new RegExp(grammar.repository.labels.match));
});

const textmate = (() => {
  try {
    return { ...require('vscode-textmate'), oniguruma: require('vscode-oniguruma') };
  } catch {
    return undefined;
  }
})();

test('a model gets the scopes it should', { skip: !textmate && 'npm install brings the engine of the editor' }, async () => {
  const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer;
  await textmate.oniguruma.loadWASM(wasm);
  const { OnigScanner, OnigString } = textmate.oniguruma;
  const file = path.join(root, manifest.contributes.grammars[0].path);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new OnigScanner(patterns),
      createOnigString: (text) => new OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(file, 'utf8'), file),
  });
  const grammar = await registry.loadGrammar('source.promela');
  let stack = textmate.INITIAL;
  const scopes = (line) => {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    return new Map(result.tokens.map((t) => [line.slice(t.startIndex, t.endIndex).trim(), t.scopes.at(-1)]));
  };
  assert.strictEqual(scopes('/* a').get('/*'), 'comment.block.promela');
  assert.strictEqual(scopes('b */ byte x = 3;').get('byte'), 'storage.type.promela');
  assert.strictEqual(scopes('#define N 3').get('N'), 'entity.name.function.preprocessor.promela');
  const proctype = scopes('active [2] proctype P() {');
  assert.strictEqual(proctype.get('P'), 'entity.name.type.promela');
  assert.strictEqual(proctype.get('active'), 'storage.modifier.promela');
  assert.strictEqual(scopes('again: c!x -> goto again').get('again'), 'entity.name.label.promela');
  assert.strictEqual(scopes('}').get('}'), 'source.promela');
  const formula = scopes('ltl p { [] (x U y) }');
  assert.strictEqual(formula.get('p'), 'entity.name.function.ltl.promela');
  assert.strictEqual(formula.get('[]'), 'keyword.operator.temporal.promela');
  assert.strictEqual(formula.get('U'), 'keyword.operator.temporal.promela');
});

test('the problem matcher reads what volee prints', () => {
  const [what, where] = manifest.contributes.problemMatchers[0].pattern.map((p) => new RegExp(p.regexp));
  for (const [message, place] of [
    ['  × expected an expression, found `=`', '   ╭─[models/mutex.pml:3:7]'],
    ['  ⚠ 300 does not fit `x`', '   ╭─[/tmp/a b.pml:12:1]'],
    ['  x there is no label `L`', '   ,-[m.pml:1:2]'],
  ]) {
    assert.ok(what.exec(message), message);
    const found = where.exec(place);
    assert.ok(found && Number(found[2]) > 0 && Number(found[3]) > 0, place);
  }
});

test('command lines are those of volee', () => {
  assert.deepStrictEqual(commands.checkCommand('volee', 'm.pml', ['N=3'], ['--property', 'all']), [
    'volee', 'check', 'm.pml', '-D', 'N=3', '--property', 'all',
  ]);
  const answer = { command: ['volee', 'explore', 'm.pml'] };
  assert.deepStrictEqual(commands.exploreCommand('/opt/volee', answer), ['/opt/volee', 'explore', 'm.pml']);
  assert.throws(() => commands.exploreCommand('volee', {}));
});

test('only an address of this machine is shown in the panel', () => {
  assert.strictEqual(commands.explorerAddress('ready at http://127.0.0.1:4711/?k=1 now'), 'http://127.0.0.1:4711/?k=1');
  assert.strictEqual(commands.explorerAddress('see http://example.com:80/'), undefined);
  const page = commands.panelPage('http://127.0.0.1:4711/?a=1&b="2"');
  assert.ok(page.includes("frame-src http://127.0.0.1:4711;"));
  assert.ok(!page.includes('b="2"'));
});

test('settings go to the server', () => {
  const values = { defines: ['N=2'], memory: '1G' };
  assert.deepStrictEqual(commands.serverSettings({ get: (name) => values[name] }), values);
});

test('the server answers over its streams', { skip: !process.env.VOLEE && 'set VOLEE to the program' }, async () => {
  const server = spawn(process.env.VOLEE, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let buffer = Buffer.alloc(0);
  const waiting = [];
  server.stdout.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const head = buffer.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, head).toString())[1]);
      if (buffer.length < head + 4 + length) return;
      const message = JSON.parse(buffer.subarray(head + 4, head + 4 + length).toString());
      buffer = buffer.subarray(head + 4 + length);
      waiting.splice(0).forEach((resolve) => resolve(message));
    }
  });
  const next = () => new Promise((resolve) => waiting.push(resolve));
  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const started = next();
  send({ id: 1, method: 'initialize', params: { capabilities: {} } });
  assert.strictEqual((await started).result.serverInfo.name, 'volee');
  send({ method: 'initialized', params: {} });
  const told = next();
  const document = { uri: 'file:///m.pml', languageId: 'promela', version: 1, text: 'byte x = 300; init { x++ }' };
  send({ method: 'textDocument/didOpen', params: { textDocument: document } });
  const { params } = await told;
  assert.strictEqual(params.diagnostics[0].code, 'value-does-not-fit');
  const gone = next();
  send({ id: 2, method: 'shutdown' });
  await gone;
  const code = new Promise((resolve) => server.on('exit', resolve));
  send({ method: 'exit' });
  assert.strictEqual(await code, 0);
});
