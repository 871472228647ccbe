// The answer: verdicts with their reasons, what was explored, how much of the model was executed.

import { fill, grouped, make, notify, plural, sized } from './dom.js';
import { data, listen, showRun, store } from './store.js';
import { showPlace } from './source.js';

const view = make('div', { class: 'answer', id: 'answer', tabindex: '0' });
export const answer = { current: data.answer || null };

const WORDS = { holds: 'holds', violated: 'violated', unknown: 'unknown', error: 'error' };

function drawResult(result) {
  const why = (result.why || []).map((line) => make('li', { text: line }));
  return make('div', { class: `result ${result.verdict}` },
    make('div', { class: 'verdict' }, make('strong', { text: WORDS[result.verdict] || result.verdict }), make('span', { text: result.question })),
    result.message ? make('p', { text: result.message }) : null,
    result.place ? make('p', {}, make('button', { class: 'link', text: `line ${result.place[1]}`, onclick: () => showPlace(result.place) })) : null,
    why.length ? make('ul', {}, why) : null,
    result.lost ? make('p', { class: 'bad', text: result.lost }) : null,
    result.held ? make('button', { class: 'main', text: `walk into it (${plural(result.held.length, 'step')})`, onclick: () => { walkInto(result); } }) : null,
    result.replay ? make('code', { class: 'command', text: result.replay }) : null);
}

export function walkInto(result) {
  notify('');
  showRun(result.held, result.held.length);
  document.dispatchEvent(new CustomEvent('tab', { detail: 'chart' }));
}

const FIGURES = [['states', 'states', grouped], ['transitions', 'transitions', grouped], ['depth', 'depth', grouped], ['seconds', 'seconds', (s) => s.toFixed(2)],
  ['memory', 'memory', sized], ['peak_memory_bytes', 'memory', sized], ['bytes_per_state', 'bytes per state', (b) => b.toFixed(1)]];

function drawFigures(statistics) {
  const rows = FIGURES.filter(([key]) => typeof statistics[key] === 'number').map(([key, name, told]) => [make('dt', { text: name }), make('dd', { text: told(statistics[key]) })]);
  return make('dl', { class: 'figures' }, rows.flat());
}

// How much of each process type was executed.
function drawCoverage() {
  const by = new Map();
  for (const s of store.coverage) {
    if (!by.has(s.process)) by.set(s.process, { all: 0, ran: 0, missed: [] });
    const of = by.get(s.process);
    of.all += 1;
    if (s.times > 0) of.ran += 1;
    else of.missed.push(s);
  }
  const rows = [...by].map(([name, of]) => {
    const share = Math.round((100 * of.ran) / of.all);
    const bar = make('span', { class: 'fill' });
    bar.style.width = `${share}%`;
    const missed = of.missed.slice(0, 40).map((s) => make('button', { class: 'link', text: `${s.at ? `line ${s.at[1]}: ` : ''}${s.text}`, onclick: () => showPlace(s.at) }));
    return make('div', { class: 'coverage' },
      make('span', { class: 'name', text: name }), make('span', { class: 'meter' }, bar),
      make('span', { class: 'share', text: `${share} %` }), make('span', { class: 'quiet', text: `${of.ran} of ${of.all} statements` }),
      missed.length ? make('details', {}, make('summary', { text: `never executed: ${of.missed.length}` }), missed) : null);
  });
  return make('div', {}, make('h3', { text: 'Coverage' }), store.coverageNote ? make('p', { class: 'quiet', text: store.coverageNote }) : null, rows);
}

export function refreshAnswer() {
  if (!view.isConnected) return;
  const told = answer.current;
  if (!told) {
    fill(view, make('p', { class: 'quiet', text: 'No check was made yet: press c to ask a question of all states.' }));
    return;
  }
  fill(view, (told.results || []).map(drawResult),
    (told.errors || []).map((text) => make('p', { class: 'bad', text })),
    told.statistics ? drawFigures(told.statistics) : null,
    (told.notes || []).map((text) => make('p', { class: 'quiet', text })),
    store.coverage && store.coverage.length ? drawCoverage() : null);
}

export function answerView() {
  return { node: view, shown: refreshAnswer };
}

export function startAnswer() {
  listen('answer coverage', refreshAnswer);
}
