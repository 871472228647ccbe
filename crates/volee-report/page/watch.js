// Expressions: their value here, and along the whole run as a strip to click on. With an engine every expression of the model's
// language works; without one, those over the variables that are shown. The properties of the model are in the same list.

import { byId, fill, make } from './dom.js';
import { ask, data, goTo, isLive, listen, store } from './store.js';
import { evaluateHere } from './expression.js';

const watches = [];
const MOST_WATCHES = 30;
const HIGH = 26;

async function valuesOf(text) {
  const run = store.run;
  if (isLive) {
    const states = [];
    for (let at = 0; at <= run.length; at += 1) states.push(run.number(at));
    return ask({ ask: 'evaluate', expression: text, states });
  }
  const values = [];
  for (let at = 0; at <= run.length; at += 1) values.push(evaluateHere(text, run.state(at)));
  return values;
}

// Values of states that are known stay known: only new ones are asked for.
async function bringUpToDate(watch) {
  const run = store.run;
  if (watch.run === run && watch.values.length === run.length + 1 && watch.last === run.steps[run.length - 1]) return;
  const begin = watch.run === run && watch.values.length > 0 && watch.values.length <= run.length
    && watch.last === (watch.values.length > 1 ? run.steps[watch.values.length - 2] : undefined) ? watch.values.length : 0;
  let values;
  if (isLive) {
    const states = [];
    for (let at = begin; at <= run.length; at += 1) states.push(run.number(at));
    values = watch.values.slice(0, begin).concat(await ask({ ask: 'evaluate', expression: watch.text, states }));
  } else {
    values = await valuesOf(watch.text);
  }
  watch.values = values;
  watch.run = run;
  watch.last = run.steps[run.length - 1];
}

export async function addWatch(text) {
  const trimmed = text.trim();
  if (!trimmed || watches.some((w) => w.text === trimmed) || watches.length >= MOST_WATCHES) return false;
  const watch = { text: trimmed, values: [], run: null, last: undefined, error: '' };
  try {
    await bringUpToDate(watch);
  } catch (wrong) {
    fieldError(wrong.message);
    return false;
  }
  fieldError('');
  watches.push(watch);
  draw();
  return true;
}

function fieldError(text) {
  const box = byId('watch-error');
  if (box) { box.textContent = text; box.hidden = !text; }
}

function shownValue(value) {
  return typeof value === 'string' ? '—' : String(value);
}

// A canvas with one column per step: bars for numbers, two levels for truth values.
function strip(watch) {
  const canvas = make('canvas', { class: 'strip', height: HIGH, title: 'along the run; click to go there' });
  canvas.addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect();
    goTo(Math.round(((event.clientX - box.left) / box.width) * (watch.values.length - 1)));
  });
  return canvas;
}

function paintStrip(canvas, watch) {
  const wide = Math.max(10, Math.round(canvas.clientWidth));
  const ratio = window.devicePixelRatio || 1;
  canvas.width = wide * ratio;
  canvas.height = HIGH * ratio;
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const numbers = watch.values.map((v) => (typeof v === 'number' ? v : null));
  const known = numbers.filter((v) => v !== null);
  const least = known.reduce((a, b) => Math.min(a, b), 0);
  const most = known.reduce((a, b) => Math.max(a, b), 1);
  const n = watch.values.length;
  pen.fillStyle = style.getPropertyValue('--strip');
  // One column of pixels may stand for many steps: the largest of them is drawn.
  const columns = Math.min(n, wide);
  for (let c = 0; c < columns; c += 1) {
    const from = Math.floor((c * n) / columns);
    const to = Math.max(from + 1, Math.floor(((c + 1) * n) / columns));
    let value = null;
    for (let i = from; i < to; i += 1) if (numbers[i] !== null && (value === null || numbers[i] > value)) value = numbers[i];
    const left = (c * wide) / columns;
    const right = ((c + 1) * wide) / columns;
    if (value === null) { pen.fillRect(left, HIGH / 2, right - left, 1); continue; }
    const high = most === least ? 2 : ((value - least) / (most - least)) * (HIGH - 6) + 2;
    pen.fillRect(left, HIGH - 2 - high, Math.max(1, right - left - (columns < wide / 4 ? 1 : 0)), high);
  }
  pen.fillStyle = style.getPropertyValue('--accent');
  const at = n > 1 ? (store.at / (n - 1)) * (wide - 2) : 0;
  pen.fillRect(at, 0, 2, HIGH);
}

function drawWatch(watch, index) {
  const value = watch.values[store.at];
  const canvas = strip(watch);
  const row = make('div', { class: 'watch' },
    make('span', { class: 'name', text: watch.text, title: watch.text }),
    make('span', { class: `value${typeof value === 'string' ? ' bad' : ''}`, text: value === undefined ? '' : shownValue(value), title: typeof value === 'string' ? value : '' }),
    make('button', { class: 'remove', title: 'Remove', text: '×', 'aria-label': `Remove ${watch.text}`, onclick: () => { watches.splice(index, 1); draw(); } }),
    canvas);
  queueMicrotask(() => paintStrip(canvas, watch));
  return row;
}

function draw() {
  fill(byId('watch-rows'), watches.map(drawWatch));
}

async function refresh() {
  if (!watches.length) return;
  try {
    for (const watch of watches) await bringUpToDate(watch);
  } catch { return; }
  draw();
}

// The conditions that the properties of the model are made of: comparisons and names between the operators of the formula.
function atomsOf(text) {
  const parts = text.split(/\[\]|<>|->|<->|&&|\|\||!(?!=)|\bU\b|\bW\b|\bR\b|\bV\b|\bX\b|\balways\b|\beventually\b|\buntil\b|\bimplies\b/);
  const cleaned = parts.map((p) => p.replace(/^[\s(){}]+|[\s(){}]+$/g, '')).filter((p) => /[A-Za-z_]/.test(p) && p !== 'true' && p !== 'false');
  return [...new Set(cleaned)];
}

// Which states the automaton of a property's negation can be in here; in none, nothing that follows violates it.
const followed = new Map();

async function follow(property) {
  const run = store.run;
  const known = followed.get(property.name);
  if (known.run === run && known.length === run.length && known.last === run.steps[run.length - 1]) return;
  const states = [];
  for (let at = 0; at <= run.length; at += 1) states.push(run.number(at));
  const told = await ask({ ask: 'track', formula: property.text, states, labels: run.steps.map((s) => s.label) });
  followed.set(property.name, { run, length: run.length, last: run.steps[run.length - 1], ...told });
}

function standing(property) {
  const known = followed.get(property.name);
  if (!known || !known.states) return null;
  const here = known.states[store.at] || [];
  const text = here.length ? `automaton in {${here.join(', ')}} of ${known.of}` : 'can no longer fail';
  return make('span', { class: 'standing', text, title: 'the states of the automaton that looks for a violation' });
}

async function watchProperty(property) {
  followed.set(property.name, {});
  for (const atom of atomsOf(property.text)) await addWatch(atom);
  await follow(property).catch(() => null);
  drawProperties();
}

function drawProperties() {
  const all = data.model.properties || [];
  fill(byId('properties'), all.map((p) => make('div', { class: 'property', title: p.text },
    make('span', { class: 'name', text: p.name }),
    standing(p) || make('span', { class: 'formula', text: p.text }),
    isLive && p.text !== 'never claim' && !followed.has(p.name) ? make('button', { text: 'watch', title: 'Follow this property: its conditions, its automaton', onclick: () => watchProperty(p) }) : null)));
}

async function refreshProperties() {
  if (!followed.size) return;
  for (const p of data.model.properties || []) if (followed.has(p.name)) await follow(p).catch(() => null);
  drawProperties();
}

export function startWatches() {
  if (isLive && !data.model.expressions) { byId('watches').hidden = true; return; }
  const field = make('input', { id: 'watch-field', placeholder: 'an expression (e)', 'aria-label': 'Expression', spellcheck: 'false' });
  field.addEventListener('keydown', async (event) => {
    if (event.key === 'Enter' && await addWatch(field.value)) field.value = '';
  });
  field.addEventListener('input', () => fieldError(''));
  fill(byId('watches-body'), make('div', { id: 'watch-rows' }), field, make('div', { id: 'watch-error', class: 'bad', hidden: true }), make('div', { id: 'properties' }));
  drawProperties();
  listen('moved', () => { refresh(); refreshProperties(); });
  listen('theme', draw);
}
