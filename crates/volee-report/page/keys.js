// Keys for everything. Inside a field only Escape is ours; lists have the arrows to themselves.

import { byId, fill, make } from './dom.js';
import { goTo, isLive, nearest, store, walk } from './store.js';
import { stepsOfLine } from './source.js';
import { moveChoice, takeChosen, takeNumber } from './steps.js';
import { showAllProcesses, toggleMessages } from './noise.js';
import { openCheck } from './check.js';
import { keepThis, openRuns } from './compare.js';

const TABS = ['answer', 'chart', 'history', 'graph', 'compare'];

export function chooseTab(name) {
  document.dispatchEvent(new CustomEvent('tab', { detail: name }));
}

function nextTab(by) {
  const now = TABS.indexOf(document.querySelector('#tabs [aria-selected=true]')?.dataset.tab || 'chart');
  chooseTab(TABS[(now + by + TABS.length) % TABS.length]);
}

// The next step that executes the chosen line, or the one before.
function alongLine(by) {
  const steps = stepsOfLine();
  const to = by > 0 ? steps.find((s) => s > store.at) : steps.findLast((s) => s < store.at);
  if (to !== undefined) goTo(to);
}

// A small dialog with one field.
export function askFor(title, attributes, buttons) {
  const dialog = byId('dialog');
  const input = make('input', { id: 'asked', spellcheck: 'false', 'aria-label': title, ...attributes });
  const form = make('form', { method: 'dialog' }, make('h2', { text: title }), input,
    make('div', { class: 'buttons' }, make('button', { type: 'button', text: 'cancel', onclick: () => dialog.close() }),
      buttons.map(([text, act, main]) => make('button', { type: main ? 'submit' : 'button', class: main ? 'main' : '', text, onclick: (event) => { event.preventDefault(); dialog.close(); act(input.value); } }))));
  fill(dialog, form);
  dialog.showModal();
  input.focus();
  input.select();
}

let lastCondition = '';

export function askUntil() {
  const run = (how) => (text) => { lastCondition = text; if (text.trim()) how(text); };
  askFor('Run until', { value: lastCondition, placeholder: 'an expression, e.g. x == 3' },
    [['by chance', run((text) => walk(10000, text)), false], ['by a shortest way', run((text) => nearest(text)), true]]);
}

export function askStep() {
  askFor('Jump to step', { value: String(store.at), inputmode: 'numeric' }, [['jump', (text) => { const n = Number.parseInt(text, 10); if (n >= 0) goTo(n); }, true]]);
}

export function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('volee-theme', root.dataset.theme); } catch { /* a file has no storage */ }
  document.dispatchEvent(new CustomEvent('theme'));
}

const HELP = [
  ['→ ←', 'forward (redo), back'], ['Home End', 'to the start, to the end of the run'], ['g', 'jump to a step'],
  ['1 … 9', 'take a possible step'], ['j k Enter', 'choose among possible steps, take the chosen one'], ['r w', 'one random step, a hundred'], ['u', 'run until a condition'],
  ['e', 'evaluate an expression, here and along the run'], ['v', 'filter variables'], ['/', 'find in the run or among states'], ['n p', 'next, previous step of the chosen line'],
  ['m a', 'only messages; all processes again (a click on the head of a line hides its process)'], ['[ ]', 'the views: answer, chart, run, states, compare'], ['c', 'check: ask a question of all states'], ['o k', 'runs: load, keep this one'],
  ['t', 'light or dark'], ['Tab F6', 'to the next control, to the next panel'], ['Esc', 'leave a field'],
];

export function openHelp() {
  const dialog = byId('dialog');
  const live = new Set(['1 … 9', 'j k Enter', 'r w', 'u', 'c']);
  const rows = HELP.filter(([key]) => isLive || !live.has(key)).map(([key, text]) => [make('dt', {}, key.split(' ').map((k) => make('kbd', { text: k }))), make('dd', { text })]);
  fill(dialog, make('div', { class: 'help', id: 'keys' }, make('h2', { text: 'Keys' }), make('dl', {}, rows.flat()), make('div', { class: 'buttons' }, make('button', { class: 'main', text: 'close', onclick: () => dialog.close() }))));
  dialog.showModal();
}

const PANELS = ['code-list', 'tab-body', 'next-list', 'processes-body', 'variable-list', 'watch-field'];

function nextPanel(by) {
  const there = PANELS.map(byId).filter((node) => node && node.offsetParent !== null);
  const now = there.findIndex((node) => node.contains(document.activeElement));
  const to = there[(now + by + there.length) % there.length];
  (to.matches('[tabindex], input') ? to : to.querySelector('[tabindex], input, button') || to).focus();
}

const focus = (id) => { const node = byId(id); if (node && node.offsetParent !== null) { node.focus(); node.select(); } };

const ACTIONS = {
  ArrowRight: () => goTo(store.at + 1), ArrowLeft: () => goTo(store.at - 1), Home: () => goTo(0), End: () => goTo(store.run.length),
  g: askStep, v: () => focus('filter'), e: () => focus('watch-field'), '/': () => focus('find'),
  n: () => alongLine(1), p: () => alongLine(-1), '[': () => nextTab(-1), ']': () => nextTab(1), t: changeTheme, m: toggleMessages, a: showAllProcesses, '?': openHelp, o: openRuns, k: keepThis,
};
const LIVE_ACTIONS = { r: () => walk(1), w: () => walk(100), u: askUntil, c: openCheck, j: () => moveChoice(1), Enter: takeChosen };

function pressed(event) {
  if (event.key === 'F6') { event.preventDefault(); nextPanel(event.shiftKey ? -1 : 1); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || byId('dialog').open) return;
  if (!(event.target instanceof Element)) return;
  const inField = event.target.matches('input:not([type=range]), textarea, select');
  if (inField) { if (event.key === 'Escape') event.target.blur(); return; }
  if (event.target.matches('input[type=range]') && event.key.startsWith('Arrow')) return;
  if (event.key === 'Enter' && event.target.matches('button, [role=button], summary')) return;
  if (event.key === 'k' && isLive && event.target.closest && event.target.closest('#next')) { moveChoice(-1); return; }
  if (isLive && /^[1-9]$/.test(event.key)) { event.preventDefault(); takeNumber(Number(event.key) - 1); return; }
  const act = ACTIONS[event.key] || (isLive ? LIVE_ACTIONS[event.key] : null);
  if (act) { event.preventDefault(); act(); }
}

export function startKeys() {
  document.addEventListener('keydown', pressed);
}
