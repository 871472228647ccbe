// Two runs side by side, step by step: where they part, and what differs in the states one looks at. And the list of runs:
// loading, keeping, copying.

import { byId, fill, make, notify, plural } from './dom.js';
import { ask, data, isLive, keepCurrent, keepRun, listen, showRun, startAnew, store } from './store.js';
import { List } from './list.js';
import { Run } from './run.js';
import { drawStep } from './history.js';

const view = make('div', { class: 'compare', id: 'compare' });
const sides = [];
let at = 0;
let parts = 0;

// The first step in which two runs differ.
function parting(a, b) {
  const most = Math.min(a.length, b.length);
  let i = 0;
  while (i < most && a.steps[i].label === b.steps[i].label && a.steps[i].ordinal === b.steps[i].ordinal) i += 1;
  return i;
}

function side(run, other) {
  const list = new List(run.title, (index) => {
    const row = drawStep(run, index);
    if (index > parts) row.classList.add('apart');
    return row;
  }, (index) => choose(index));
  const select = make('select', { 'aria-label': 'Run' }, candidates().map((c, i) => make('option', { value: i, text: c.title || 'a run', selected: c === run })));
  select.addEventListener('change', () => { sides[other ? 1 : 0] = candidates()[Number(select.value)]; drawCompare(); });
  return { list, node: make('div', { class: 'half' }, select, list.node) };
}

const candidates = () => [store.run, ...store.runs];
let lists = [];

function choose(index) {
  at = index;
  for (const list of lists) { list.current = Math.min(index, list.count - 1); list.show(list.current); }
  drawDifferences();
}

const differences = make('div', { class: 'differences' });

function drawDifferences() {
  const [a, b] = sides;
  const one = a.state(Math.min(at, a.length));
  const two = b.state(Math.min(at, b.length));
  const other = new Map(two.names.map((name, i) => [name, two.values[i]]));
  const rows = [];
  one.names.forEach((name, i) => {
    const value = other.get(name);
    if (value !== one.values[i]) rows.push([name, one.values[i], value === undefined ? '—' : value]);
    other.delete(name);
  });
  for (const [name, value] of other) rows.push([name, '—', value]);
  fill(differences, make('p', { class: 'quiet', text: rows.length ? `after ${plural(at, 'step')} the states differ in` : `after ${plural(at, 'step')} the states are equal` }),
    rows.slice(0, 200).map(([name, x, y]) => make('div', { class: 'difference' }, make('span', { class: 'name', text: name }), make('span', { class: 'value', text: x }), make('span', { class: 'value', text: y }))));
}

export function drawCompare() {
  if (!view.isConnected) return;
  const known = candidates();
  if (known.length < 2) {
    fill(view, make('p', { class: 'quiet', text: 'There is one run only. Keep this one (k), or load another (o), then go on: the two are shown here side by side.' }));
    return;
  }
  if (!known.includes(sides[0])) sides[0] = store.run;
  if (!known.includes(sides[1]) || sides[1] === sides[0]) sides[1] = known.find((r) => r !== sides[0]);
  parts = parting(sides[0], sides[1]);
  at = Math.min(parts + 1, Math.max(sides[0].length, sides[1].length));
  const made = [side(sides[0], false), side(sides[1], true)];
  lists = made.map((m) => m.list);
  const together = parts === Math.min(sides[0].length, sides[1].length);
  const same = together && sides[0].length === sides[1].length;
  fill(view, make('p', { id: 'parting', text: same ? 'the two runs are the same' : `the same for ${plural(parts, 'step')}, then they part` }),
    make('div', { class: 'halves' }, made.map((m) => m.node)), differences);
  lists.forEach((list, i) => list.update(sides[i].length + 1, 0));
  let syncing = false;
  lists.forEach((list, i) => list.node.addEventListener('scroll', () => {
    if (syncing) return;
    syncing = true;
    lists[1 - i].node.scrollTop = list.node.scrollTop;
    requestAnimationFrame(() => { syncing = false; });
  }));
  choose(at);
}

async function load(text) {
  const story = await ask({ ask: 'load', text }).catch(() => null);
  if (!story) return;
  const run = new Run(story);
  keepRun(run, false);
  byId('dialog').close();
  showRun(run, run.length);
}

export function keepThis() {
  const title = `kept at step ${store.at} (${plural(store.run.length, 'step')})`;
  keepCurrent(title);
  notify(`kept: ${title}`);
}

export function openRuns() {
  const dialog = byId('dialog');
  const rows = store.runs.map((run) => make('div', { class: 'kept' },
    make('span', { text: `${run.title || 'a run'}, ${plural(run.length, 'step')}` }),
    make('button', { text: 'show', onclick: () => { dialog.close(); showRun(run, run.length); } }),
    make('button', { text: 'drop', onclick: () => { store.runs.splice(store.runs.indexOf(run), 1); openRuns(); } })));
  const area = make('textarea', { id: 'run-text', rows: '3', placeholder: 'run:0.2.1x5, or a trace file (JSON)', spellcheck: 'false', 'aria-label': 'A run' });
  const word = make('input', { readonly: true, value: store.run.word(), 'aria-label': 'This run in one word', id: 'run-word' });
  word.addEventListener('focus', () => word.select());
  const file = make('input', { type: 'file', 'aria-label': 'A trace file' });
  file.addEventListener('change', async () => { if (file.files[0]) load(await file.files[0].text()); });
  fill(dialog, make('div', { class: 'runs' }, make('h2', { text: 'Runs' }),
    rows.length ? rows : make('p', { class: 'quiet', text: 'none is kept yet' }),
    make('label', {}, make('span', { text: 'this run' }), word),
    isLive ? make('label', {}, make('span', { text: 'another' }), area) : null, isLive ? file : null,
    make('div', { class: 'buttons' },
      make('button', { text: 'keep this run', onclick: () => { keepThis(); openRuns(); } }),
      isLive ? make('button', { text: 'start anew', title: 'Forget all visited states', onclick: () => { dialog.close(); startAnew(); } }) : null,
      isLive ? make('button', { class: 'main', id: 'load-run', text: 'load', onclick: () => load(area.value) }) : null,
      make('button', { text: 'close', onclick: () => dialog.close() }))));
  if (!dialog.open) dialog.showModal();
}

export function compareView() {
  return { node: view, shown: drawCompare };
}

export function startCompare() {
  for (const story of data.more || []) store.runs.push(new Run(story));
  listen('runs', drawCompare);
}
