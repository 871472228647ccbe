// Starting a check from the page, watching it, and walking into its answer.

import { byId, fill, grouped, make, notify, sized } from './dom.js';
import { ask, data, keepRun, store, tell } from './store.js';
import { Run } from './run.js';
import { answer } from './answer.js';

const EVERY = 200;
const QUESTIONS = [
  ['safety', 'deadlocks, assertions, run-time errors', ''],
  ['invariant', 'an expression that is always true', 'inside <= 1'],
  ['reachable', 'an expression that is true at some time', 'inside == 1'],
  ['ltl', 'a temporal formula over infinite runs', '[](want -> <> in)'],
  ['tl', 'a temporal formula over events', '[](send -> <> receive)'],
  ['mu', 'a formula of the mu-calculus', '[true*] <true> true'],
  ['progress', 'no run goes on for ever without progress', ''],
];
const last = { kind: 'safety', text: '', shortest: true, fair: false, memory: '1G', time: '1m' };
let job = null;

function field(name, label, attributes) {
  return make('label', {}, make('span', { text: label }), make('input', { name, spellcheck: 'false', ...attributes }));
}

export function openCheck() {
  const dialog = byId('dialog');
  const own = (data.model.properties || []).map((p) => [`property ${p.name}`, `${p.name}: ${p.text}`, '']);
  const usable = data.model.expressions ? QUESTIONS : QUESTIONS.filter(([kind]) => !['invariant', 'reachable'].includes(kind));
  const select = make('select', { name: 'kind', 'aria-label': 'Question' }, [...usable, ...own].map(([kind, text]) => make('option', { value: kind, text, selected: kind === last.kind })));
  const text = field('text', 'what', { value: last.text });
  const sync = () => {
    const [, , example] = QUESTIONS.find(([kind]) => kind === select.value) || ['', '', ''];
    text.hidden = !example;
    text.querySelector('input').placeholder = example;
  };
  select.addEventListener('change', () => { sync(); if (!text.hidden) text.querySelector('input').focus(); });
  const form = make('form', { id: 'check-form', method: 'dialog' },
    make('h2', { text: 'Ask a question of all states' }),
    make('label', {}, make('span', { text: 'question' }), select), text,
    make('div', { class: 'pair' },
      make('label', { class: 'tick' }, make('input', { type: 'checkbox', name: 'shortest', checked: last.shortest }), make('span', { text: 'a shortest run' })),
      make('label', { class: 'tick' }, make('input', { type: 'checkbox', name: 'fair', checked: last.fair }), make('span', { text: 'fair runs only' }))),
    make('div', { class: 'pair' }, field('memory', 'memory', { value: last.memory, size: '6' }), field('time', 'time', { value: last.time, size: '6' })),
    make('div', { class: 'buttons' }, make('button', { type: 'button', text: 'cancel', onclick: () => dialog.close() }), make('button', { class: 'main', id: 'start-check', text: 'check' })));
  form.addEventListener('submit', (event) => { event.preventDefault(); start(new FormData(form)); });
  // Enter asks, wherever one is; the arrows choose.
  select.addEventListener('keydown', (event) => { if (event.key === 'Enter') { event.preventDefault(); form.requestSubmit(); } });
  fill(dialog, form);
  sync();
  dialog.showModal();
  select.focus();
}

async function start(form) {
  for (const key of ['kind', 'text', 'memory', 'time']) last[key] = String(form.get(key) || '');
  last.shortest = form.has('shortest');
  last.fair = form.has('fair');
  const question = last.kind.startsWith('property ') ? { kind: 'property', text: last.kind.slice(9) } : { kind: last.kind, text: last.text };
  const how = { shortest: last.shortest, fair: last.fair };
  const told = await ask({ ask: 'check', question, how, memory: last.memory, time: last.time }).catch(() => null);
  if (!told) return;
  job = told.job;
  watchJob(job, { states: 0, seconds: 0 });
}

async function watchJob(number, before) {
  const told = await ask({ ask: 'progress', job: number }).catch(() => null);
  if (!told || job !== number) { byId('dialog').close(); return; }
  if (!told.running) { ended(told); return; }
  drawProgress(told, before);
  setTimeout(() => watchJob(number, { states: told.snapshot.states, seconds: told.seconds }), EVERY);
}

// States, rate, depth, memory; and how soon the budget is used up if it goes on like this.
function drawProgress(told, before) {
  const s = told.snapshot;
  const rate = told.seconds > before.seconds ? (s.states - before.states) / (told.seconds - before.seconds) : 0;
  const share = Math.max(s.memory / told.budget.memory, told.seconds / told.budget.seconds);
  const left = share > 0.001 ? told.seconds / share - told.seconds : null;
  const rows = [['states', grouped(s.states)], ['per second', grouped(Math.max(0, rate))], ['transitions', grouped(s.transitions)], ['depth', grouped(s.depth)],
    ['waiting', grouped(s.pending)], ['memory', `${sized(s.memory)} of ${sized(told.budget.memory)}`], ['time', `${told.seconds.toFixed(1)} s of ${told.budget.seconds} s`],
    ['budget lasts', left === null ? '' : `about ${grouped(left)} s more`]];
  const bar = make('span', { class: 'fill' });
  bar.style.width = `${Math.min(100, share * 100)}%`;
  const dialog = byId('dialog');
  const stop = dialog.querySelector('#stop-check') || make('button', { id: 'stop-check', text: 'stop', onclick: () => ask({ ask: 'stop' }).catch(() => null) });
  fill(dialog, make('div', { class: 'progress', id: 'progress' }, make('h2', { text: 'Checking' }), make('span', { class: 'meter', title: 'share of the budget' }, bar),
    make('dl', { class: 'figures' }, rows.map(([name, value]) => [make('dt', { text: name }), make('dd', { text: value })]).flat())), make('div', { class: 'buttons' }, stop));
  if (document.activeElement === document.body) stop.focus();
}

function ended(told) {
  byId('dialog').close();
  if (told.errors) { notify(told.errors.join('; '), 'bad'); return; }
  const results = told.answers.map((a) => ({ ...a, held: a.run ? new Run(a.run) : null }));
  for (const result of results) if (result.held) { result.held.title = result.question; keepRun(result.held, false); }
  answer.current = { results, statistics: told.statistics, notes: told.notes };
  store.coverage = told.coverage;
  store.coverageNote = told.coverage_note;
  tell('coverage');
  tell('answer');
  document.dispatchEvent(new CustomEvent('tab', { detail: 'answer' }));
  const shown = results.find((r) => r.held);
  notify(results.map((r) => `${r.question}: ${r.verdict}`).join(', ') + (shown ? ' (Enter walks into it)' : ''), shown ? 'bad' : '');
  if (shown) {
    const button = document.querySelector('#answer button.main');
    if (button) button.focus();
  }
}

