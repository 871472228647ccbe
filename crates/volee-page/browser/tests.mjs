// The explorer in a real browser: everything by mouse and by keyboard, in light and dark, with and without an engine.

import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { command, end, explore, here, openFile, until, where, write } from './stage.mjs';
import { CLOCK, PHILOSOPHERS, wide } from './models.mjs';

after(end);
write('phil.pml', PHILOSOPHERS);
write('clock.pml', CLOCK);
write('wide.pml', wide(200));
write('door.aut', 'des (0, 3, 2)\n(0, "open", 1)\n(1, "close", 0)\n(1, "look", 1)\n');

function clean(seen) {
  assert.deepEqual(seen.errors, []);
  const hosts = new Set(seen.requests.filter((u) => !u.startsWith('data:')).map((u) => new URL(u).host));
  assert.ok(hosts.size <= 1, `only one host is asked: ${[...hosts]}`);
}

test('it opens with the source, the possible steps and the variables', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  assert.match(await page.textContent('#code-list'), /proctype Philosopher/);
  assert.equal(await page.locator('#next-list .row').count(), 1);
  assert.match(await page.textContent('#variable-list'), /eating/);
  assert.ok(await page.locator('#code-list .standing').count() >= 1, 'init stands somewhere');
  clean(seen);
  await close();
});

test('steps are taken, undone and redone by mouse', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.click('#next-list .row >> nth=0');
  await until(page, 1);
  await page.click('#next-list .row >> nth=1');
  await until(page, 2);
  await page.click('#go-back');
  assert.deepEqual(await where(page), [1, 2]);
  await page.click('#go-forward');
  assert.deepEqual(await where(page), [2, 2]);
  await page.click('#go-first');
  assert.deepEqual(await where(page), [0, 2]);
  await page.click('#go-last');
  assert.deepEqual(await where(page), [2, 2]);
  assert.ok(await page.locator('#variable-list .changed').count() > 0, 'changes are marked');
  clean(seen);
  await close();
});

test('steps are taken, undone and redone by keyboard', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.keyboard.press('1');
  await until(page, 1);
  await page.waitForFunction(() => document.querySelectorAll('#next-list .row').length === 3);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await until(page, 2);
  await page.keyboard.press('ArrowLeft');
  assert.deepEqual(await where(page), [1, 2]);
  await page.keyboard.press('ArrowRight');
  assert.deepEqual(await where(page), [2, 2]);
  await page.keyboard.press('Home');
  assert.deepEqual(await where(page), [0, 2]);
  await page.keyboard.press('End');
  await page.keyboard.press('g');
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');
  assert.deepEqual(await where(page), [1, 2]);
  clean(seen);
  await close();
});

test('a click in the chart goes to the step, a line of the source to the chart', async () => {
  const { page, seen, close } = await explore(['phil.pml', 'run:0x2.1x2', '--plain']);
  await page.keyboard.press('End');
  await until(page, 4);
  const rows = await page.locator('#chart .hit').count();
  assert.ok(rows >= 4);
  await page.locator('#chart .hit').nth(rows - 2).click({ position: { x: 30, y: 10 } });
  assert.deepEqual(await where(page), [3, 4]);
  await page.locator('#code-list .row', { hasText: 'fork[left]?_;' }).click();
  assert.match(await page.textContent('#line-note'), /3 steps/);
  assert.equal(await page.locator('#chart .band.chosen').count(), 3);
  await page.keyboard.press('n');
  assert.deepEqual(await where(page), [4, 4]);
  await page.keyboard.press('p');
  assert.deepEqual(await where(page), [3, 4]);
  await page.focus('#chart');
  await page.keyboard.press('ArrowDown');
  assert.deepEqual(await where(page), [4, 4]);
  clean(seen);
  await close();
});

test('expressions have a value here and along the run', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.keyboard.press('1');
  await until(page, 1);
  await page.keyboard.press('e');
  await page.keyboard.type('len(fork[0]) + 10 * eating');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.watch');
  assert.equal(await page.textContent('.watch .value'), '1');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelector('.watch .value').textContent === '0');
  seen.expected = true;
  await page.fill('#watch-field', 'nonsense +');
  await page.press('#watch-field', 'Enter');
  await page.waitForSelector('#watch-error:not([hidden])');
  clean(seen);
  await close();
});

test('a check is started, and its answer walked into, by keyboard', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.keyboard.press('c');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#answer .result.violated');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#processes.deadlock');
  const told = await page.textContent('#processes-body');
  for (const reason of ['fork[0]?_: empty', 'fork[1]?_: empty', 'fork[2]?_: empty']) assert.ok(told.includes(reason), told);
  clean(seen);
  await close();
});

test('a check is started, and its answer walked into, by mouse', async () => {
  const { page, seen, close } = await explore(['clock.pml']);
  await page.click('#open-check');
  await page.selectOption('select[name=kind]', 'ltl');
  await page.fill('input[name=text]', '<> (x == 5)');
  await page.click('#start-check');
  await page.waitForSelector('#answer .result.violated');
  assert.ok(await page.locator('.covered').count() > 0, 'coverage is in the source');
  await page.click('#answer button.main');
  await page.waitForSelector('#chart .band.cycle', { state: 'attached' });
  clean(seen);
  await close();
});

test('it runs until a condition, by chance and by a shortest way', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.keyboard.press('u');
  await page.keyboard.type('eating == 1');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !document.getElementById('where').textContent.startsWith('0'));
  const [at, length] = await where(page);
  assert.ok(at === length && at >= 4);
  await page.keyboard.press('r');
  await page.waitForFunction((n) => document.getElementById('where').textContent.endsWith(`of ${n}`), length + 1);
  await page.keyboard.press('w');
  clean(seen);
  await close();
});

test('dark and light follow the system and the key', async () => {
  const { page, seen, close } = await explore(['phil.pml'], { colorScheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.keyboard.press('t');
  const light = await ground();
  assert.notEqual(dark, light);
  await page.click('#theme');
  assert.equal(await ground(), dark);
  clean(seen);
  await close();
});

test('visited states are a graph: found, labelled, gone to', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  for (const n of [1, 2]) { await page.keyboard.press('1'); await until(page, n); }
  await page.click('[data-tab=graph]');
  await page.waitForSelector('#graph .node');
  await page.selectOption('#label-with', 'eating');
  await page.waitForFunction(() => document.querySelector('#graph').textContent.includes('eating = 0'));
  await page.locator('#graph .node', { hasText: '#0' }).first().click();
  assert.deepEqual(await where(page), [0, 2]);
  await page.keyboard.press('/');
  await page.keyboard.type('fork[0] = [1]');
  await page.waitForSelector('#graph .node.found');
  clean(seen);
  await close();
});

test('only messages, and processes that are hidden, by mouse and by keyboard', async () => {
  const { page, seen, close } = await explore(['phil.pml', 'run:0x2.1x2', '--plain']);
  await page.keyboard.press('End');
  const rows = () => page.locator('#chart .hit').count();
  const all = await rows();
  await page.keyboard.press('m');
  await page.waitForFunction((n) => document.querySelectorAll('#chart .hit').length < n, all);
  assert.equal(await page.getAttribute('#only-messages', 'aria-pressed'), 'true');
  await page.click('#only-messages');
  await page.waitForFunction((n) => document.querySelectorAll('#chart .hit').length === n, all);
  const head = page.locator('#chart .life[title^="Philosopher(1)"]');
  await head.click();
  await head.waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await head.waitFor({ state: 'attached' });
  clean(seen);
  await close();
});

test('the page begins with the noise that the command line asks for', async () => {
  const { page, seen, close } = await explore(['phil.pml', '--only', 'messages', '--hide', 'init', '--show', 'eating']);
  assert.equal(await page.getAttribute('#only-messages', 'aria-pressed'), 'true');
  assert.match(await page.textContent('#variable-list'), /eating/);
  assert.doesNotMatch(await page.textContent('#variable-list'), /fork/);
  clean(seen);
  await close();
});

test('two runs are compared side by side', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.keyboard.press('1');
  await until(page, 1);
  await page.waitForFunction(() => document.querySelectorAll('#next-list .row').length === 3);
  await page.keyboard.press('1');
  await until(page, 2);
  await page.keyboard.press('k');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelectorAll('#next-list .row').length === 3);
  await page.keyboard.press('2');
  await until(page, 2);
  await page.click('[data-tab=compare]');
  assert.match(await page.textContent('#parting'), /the same for 1 step, then they part/);
  assert.ok(await page.locator('.difference').count() > 0);
  clean(seen);
  await close();
});

test('a run of ten thousand steps is walked through at ease', async () => {
  const { page, seen, close } = await explore(['clock.pml', `run:${Array.from({ length: 2500 }, () => '1x3.0').join('.')}`, '--plain']);
  assert.deepEqual(await where(page), [0, 10000]);
  await page.keyboard.press('End');
  await until(page, 10000);
  assert.ok(await page.locator('#chart svg *').count() < 1500, 'only what is in sight is drawn');
  await page.click('[data-tab=history]');
  assert.ok(await page.locator('#history-list .row').count() < 200);
  await page.keyboard.press('g');
  await page.keyboard.type('5000');
  await page.keyboard.press('Enter');
  await until(page, 5000);
  assert.match(await page.textContent('#history-list [aria-selected=true]'), /5000/);
  clean(seen);
  await close();
});

test('a system without processes and source is explored as well', async () => {
  const { page, seen, close } = await explore(['door.aut']);
  await page.keyboard.press('1');
  await until(page, 1);
  await page.waitForFunction(() => document.querySelectorAll('#next-list .row').length === 2);
  clean(seen);
  await close();
});

test('panels do not overlap, on a laptop, a projector and a large screen', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  for (const [width, height] of [[1280, 800], [1024, 768], [1440, 900], [1920, 1080]]) {
    await page.setViewportSize({ width, height });
    const boxes = await page.evaluate(() => ['#bar', '#source', '#middle', '#next', '#processes', '#variables', '#watches'].map((id) => {
      const box = document.querySelector(id).getBoundingClientRect();
      return { id, left: box.left, top: box.top, right: box.right, bottom: box.bottom };
    }));
    for (const a of boxes) for (const b of boxes) {
      const apart = a === b || a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
      assert.ok(apart, `${a.id} and ${b.id} overlap at ${width}×${height}`);
      assert.ok(a.right <= width + 1 && a.left >= 0, `${a.id} is outside at ${width}×${height}`);
    }
  }
  clean(seen);
  await close();
});

test('other origins learn nothing, in a real browser as well', async () => {
  const { page, url, close } = await explore(['phil.pml']);
  const other = await page.context().browser().newContext();
  const stranger = await other.newPage();
  await stranger.goto('about:blank');
  const asked = await stranger.evaluate(async (to) => {
    try { const reply = await fetch(to); return reply.status; } catch { return 'refused'; }
  }, url);
  assert.equal(asked, 'refused');
  const bare = await stranger.goto(new URL('/', url).href);
  assert.equal(bare.status(), 403);
  await other.close();
  await close();
});

test('a report stands alone: verdicts, reasons, run and source, without an engine', async () => {
  const made = command('check', 'phil.pml', '--search', 'bfs', '--report', 'report.html');
  assert.equal(made.status, 1, made.stderr);
  const { page, seen, close } = await openFile(path.join(here, 'report.html'));
  assert.match(await page.textContent('#answer'), /violated/);
  assert.match(await page.textContent('#answer'), /fork\[1\]\?_: empty/);
  assert.match(await page.textContent('#code-list'), /proctype Philosopher/);
  await page.click('[data-tab=chart]');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  const [at] = await where(page);
  assert.equal(at, 1);
  await page.keyboard.press('e');
  await page.keyboard.type('len(fork[0]) == 1');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('.watch .value')?.textContent === '1');
  assert.equal(await page.locator('.live:visible').count(), 0, 'what needs an engine is not there');
  clean(seen);
  await close();
  assert.ok(fs.statSync(path.join(here, 'report.html')).size < 400_000);
});

async function tab(page, name) {
  for (let n = 0; n < 5 && !(await page.locator(`[data-tab=${name}][aria-selected=true]`).count()); n += 1) await page.keyboard.press(']');
  assert.equal(await page.locator(`[data-tab=${name}][aria-selected=true]`).count(), 1);
}

test('visited states, runs side by side and a line of the source, by keyboard alone', async () => {
  const { page, seen, close } = await explore(['phil.pml']);
  await page.keyboard.press('1');
  await until(page, 1);
  await page.waitForFunction(() => document.querySelectorAll('#next-list .row').length === 3);
  await page.keyboard.press('1');
  await until(page, 2);
  await tab(page, 'graph');
  await page.waitForSelector('#graph .node');
  await page.locator('#graph .node', { hasText: '#0' }).first().focus();
  await page.keyboard.press('Enter');
  assert.deepEqual(await where(page), [0, 2]);
  await page.keyboard.press('End');
  await page.keyboard.press('k');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelectorAll('#next-list .row').length === 3);
  await page.keyboard.press('2');
  await until(page, 2);
  await tab(page, 'compare');
  assert.match(await page.textContent('#parting'), /the same for 1 step, then they part/);
  await page.locator('.halves .list').first().focus();
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.locator('.halves [aria-selected=true]').count(), 2, 'both sides go along');
  await page.focus('#code-list');
  await page.keyboard.press('ArrowDown');
  assert.ok(await page.locator('#code-list [aria-selected=true]').count() === 1);
  clean(seen);
  await close();
});

test('a run of ten thousand steps, by keyboard alone', async () => {
  const { page, seen, close } = await explore(['clock.pml', `run:${Array.from({ length: 2500 }, () => '1x3.0').join('.')}`, '--plain']);
  await page.keyboard.press('End');
  await until(page, 10000);
  await tab(page, 'history');
  await page.focus('#history-list');
  await page.keyboard.press('PageUp');
  await page.waitForFunction(() => !document.getElementById('where').textContent.startsWith('10000'));
  await page.keyboard.press('Home');
  await until(page, 0);
  clean(seen);
  await close();
});

test('a process is hidden by keyboard', async () => {
  const { page, seen, close } = await explore(['phil.pml', 'run:0x2.1x2', '--plain']);
  await page.keyboard.press('End');
  const head = page.locator('#chart .life[title^="Philosopher(1)"]');
  await head.focus();
  await page.keyboard.press('Enter');
  await head.waitFor({ state: 'detached' });
  clean(seen);
  await close();
});

const NET = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>2</text></initialMarking></place><place id="b"/><transition id="t"/>
<arc id="x" source="a" target="t"/><arc id="y" source="t" target="b"/></page></net></pnml>`;
const MACHINES = `scm ping :
nb_channels = 1 ;
parameters :
real m ;
automaton A :
initial : 0
state 0 :
to 0 : when true , 0 ! m ;
automaton B :
initial : 0
state 0 :
to 0 : when true , 0 ? m ;
`;
const COUNTERS = `model up { var x; states s;
  transition add := { from := s; to := s; guard := true; action := x' = x + 2; }; }
strategy t { Region init := { state = s && x = 0 }; Transitions all := { add }; Region reach := post*(init, all); }
`;

for (const [name, text] of [['net.pnml', NET], ['ping.scm', MACHINES], ['up.fst', COUNTERS], ['abp.family', 'abp messages=2 capacity=1']]) {
  test(`${name} is explored in the same page`, async () => {
    write(name, text);
    const { page, seen, close } = await explore([name]);
    await page.keyboard.press('1');
    await until(page, 1);
    assert.ok(await page.locator('#variable-list .row').count() > 0, 'it has variables');
    await page.keyboard.press('ArrowLeft');
    await until(page, 0);
    clean(seen);
    await close();
  });
}

test('a test graph is explored, and the log of its runs is looked at', async () => {
  write('machine.aut', 'des (0, 2, 2)\n(0, "?coin", 1)\n(1, "!tea", 0)\n');
  write('rude.sh', 'read line; echo coffee\n');
  assert.equal(command('tests', 'machine.aut', '--cover', '!tea', '-o', 'tea.json').status, 0);
  const { page, seen, close } = await explore(['tea.json']);
  assert.match(await page.textContent('#next-list'), /coin/);
  await page.keyboard.press('1');
  await until(page, 1);
  clean(seen);
  await close();
  const run = command('conform', 'tea.json', '--log', 'log.json', '--', 'sh', 'rude.sh');
  assert.equal(run.status, 1, run.stdout + run.stderr);
  const log = await explore(['log.json']);
  assert.match(await log.page.textContent('#answer'), /violated/);
  await tab(log.page, 'chart');
  assert.match(await log.page.textContent('#chart'), /tester/);
  assert.match(await log.page.textContent('#chart'), /coffee/);
  assert.equal(await log.page.locator('.live:visible').count(), 0, 'what needs an engine is not there');
  clean(log.seen);
  await log.close();
});
