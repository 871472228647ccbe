// The message-sequence chart: it grows with the run, and only the part in sight is drawn. A click on a row goes to its step.
//
// A message is joined with its receipt as in the other charts of volee: a channel is a queue, and where messages are taken out
// of order the first with the same values is meant. A copy leaves its message where it is.

import { cut, cutName, fill, make, makeSvg, metrics } from './dom.js';
import { goTo, listen, store } from './store.js';
import { chosen } from './source.js';
import { nameFor, spoken } from './run.js';
import { hideProcess, hidesProcess, noise, showsAction, showsVariable } from './noise.js';

const TALL = 30;
const GUTTER = 52;
const MARGIN = 8;

const drawn = { run: null, steps: 0, rows: [], arrows: [], lives: new Map(), pending: new Map(), firsts: [] };

function life(process, pid) {
  const key = `${pid} ${process}`;
  if (!drawn.lives.has(key)) {
    drawn.lives.set(key, { name: process ? `${process}(${pid})` : 'system', pid, column: 0 });
    [...drawn.lives.values()].sort((a, b) => a.pid - b.pid).forEach((one, i) => { one.column = i; });
  }
  return drawn.lives.get(key);
}

function restart(run) {
  Object.assign(drawn, { run, steps: 0, rows: [], arrows: [], lives: new Map(), pending: new Map(), firsts: [] });
  meetAll(run.state(0).names);
}

// Every process has a line from when it is there, though it may not have done anything yet.
function meetAll(names) {
  for (const name of names) {
    const found = /^(.+)\[(\d+)\]@$/.exec(name);
    if (found && !hidesProcess(found[1], found[2])) life(found[1], Number(found[2]));
  }
}

function addRow(step, of, kind, text, action) {
  drawn.rows.push({ step, life: of, kind, text, lines: [action ? action.at : null], output: action ? action.output : null });
  return drawn.rows.length - 1;
}

function addMessage(number, action) {
  const event = action.event;
  const text = event.values.length ? `${event.channel}: ${event.values.join(', ')}` : event.channel;
  const here = life(action.process, action.pid);
  if (event.kind === 'rendezvous' && event.partner) {
    const row = addRow(number, here, 'meet', text, action);
    drawn.rows[row].to = life(event.partner[0], event.partner[1]);
    return;
  }
  const row = addRow(number, here, event.kind === 'receive' ? 'receive' : 'send', text, action);
  if (!drawn.pending.has(event.channel_id)) drawn.pending.set(event.channel_id, []);
  const queue = drawn.pending.get(event.channel_id);
  if (event.kind !== 'receive') { queue.push({ row, values: event.values.join(',') }); return; }
  if (action.text.includes('?<')) return;
  const at = queue.findIndex((m) => m.values === event.values.join(','));
  const [sent] = queue.splice(at < 0 ? 0 : at, 1);
  if (!sent) return;
  drawn.rows[row].from = sent.row;
  drawn.rows[sent.row].received = row;
  drawn.arrows.push({ from: sent.row, to: row });
}

// What a process does alone; several such statements of one step are folded into one box.
function addInternal(number, action) {
  const here = life(action.process, action.pid);
  const last = drawn.rows[drawn.rows.length - 1];
  if (last && last.step === number && last.kind === 'internal' && last.life === here) {
    last.text += `; ${spoken(action.text)}`;
    last.lines.push(action.at);
    if (action.output) last.output = (last.output || '') + action.output;
    return;
  }
  addRow(number, here, 'internal', spoken(action.text), action);
}

function addStep(step, number) {
  drawn.firsts.push(drawn.rows.length);
  if (step.variables) meetAll(step.variables.map((v) => v[0]));
  if (!step.actions.length && !noise.messages) addRow(number, life('', 0), 'internal', step.label, null);
  let met = null;
  for (const action of step.actions) {
    if (met && !action.event && action.text.includes('?') && met.name === action.process && met.pid === action.pid) { met = null; continue; }
    if (!showsAction(action)) { met = null; continue; }
    if (action.event) addMessage(number, action);
    else addInternal(number, action);
    const partner = action.event && action.event.kind === 'rendezvous' ? action.event.partner : null;
    met = partner ? { name: partner[0], pid: partner[1] } : null;
  }
  if (step.fault) {
    const acting = step.actions[step.actions.length - 1];
    addRow(number, acting ? life(acting.process, acting.pid) : life('', 0), 'fault', step.fault.message, null);
  }
}

// Brings the rows up to date with the run.
function build() {
  const run = store.run;
  const same = drawn.run === run && drawn.steps <= run.length && (drawn.steps === 0 || drawn.last === run.steps[drawn.steps - 1]);
  if (!same) restart(run);
  for (let i = drawn.steps; i < run.length; i += 1) addStep(run.steps[i], i + 1);
  drawn.steps = run.length;
  drawn.last = run.steps[run.length - 1];
}

const heads = make('div', { class: 'chart-heads' });
const space = make('div', { class: 'chart-space' });
const view = make('div', { id: 'chart', class: 'chart', tabindex: '0', role: 'group', 'aria-label': 'Message-sequence chart' }, heads, space);
let width = 150;
// As they were last: asking for them after a change makes the browser lay the page out.
const seen = { width: 0, height: 0, top: 0, heads: 0 };
let headed = '';

const x = (of) => GUTTER + width * (of.column + 0.5);

function layout() {
  const lives = Math.max(1, drawn.lives.size);
  // Beside messages alone nothing is told of changes.
  const beside = noise.messages ? 16 : 120;
  const room = seen.width - GUTTER - beside - 10;
  width = Math.max(86, Math.min(230, room / lives));
  const whole = Math.max(GUTTER + width * lives + beside, seen.width - 2);
  const ordered = [...drawn.lives.values()].sort((a, b) => a.column - b.column);
  const wanted = JSON.stringify([width, whole, drawn.rows.length, ordered.map((one) => [one.name, one.pid, one.column])]);
  if (wanted === headed) return;
  headed = wanted;
  space.style.height = `${drawn.rows.length * TALL + 24}px`;
  space.style.width = `${whole}px`;
  heads.style.width = `${whole}px`;
  fill(heads, ordered.map((one) => {
    const head = make('button', { class: `life hue${one.pid % 8}`, text: cutName(one.name, width - 16), title: `${one.name} (click: hide it)`, onclick: () => hideProcess(one.name) });
    head.style.left = `${x(one) - width / 2 + 5}px`;
    head.style.width = `${width - 10}px`;
    return head;
  }));
}

function paint() {
  if (!view.isConnected) return;
  const top = Math.max(0, seen.top - seen.heads);
  const first = Math.max(0, Math.floor(top / TALL) - MARGIN);
  const last = Math.min(drawn.rows.length, Math.ceil((top + seen.height) / TALL) + MARGIN);
  const svg = makeSvg('svg', { width: parseFloat(space.style.width), height: Math.max(TALL, (last - first) * TALL + 24) });
  svg.style.top = `${first * TALL}px`;
  const y = (row) => (row - first + 0.5) * TALL;
  const layers = { under: [], over: [] };
  bands(layers.under, first, last, y);
  for (const one of drawn.lives.values()) {
    layers.under.push(makeSvg('line', { class: 'lifeline', x1: x(one), x2: x(one), y1: 0, y2: (last - first) * TALL + 12 }));
  }
  for (const arrow of drawn.arrows) {
    if (arrow.to < first || arrow.from >= last) continue;
    slanted(layers, arrow, y);
  }
  for (let i = first; i < last; i += 1) drawMark(layers, i, y(i));
  svg.append(marker(), ...layers.under, ...layers.over);
  fill(space, svg);
}

function marker() {
  return makeSvg('defs', {}, makeSvg('marker', { id: 'tip', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: 'auto' },
    makeSvg('path', { class: 'tip', d: 'M0 0L10 5L0 10z' })));
}

// The rows of the step one is at, of the chosen line, and of the cycle of a lasso.
function bands(layer, first, last, y) {
  const whole = parseFloat(space.style.width);
  for (let i = first; i < last; i += 1) {
    const row = drawn.rows[i];
    const classes = [];
    if (store.run.loop !== null && row.step > store.run.loop) classes.push('cycle');
    if (chosen.line && row.lines.some((at) => at && at[0] === chosen.file && at[1] === chosen.line)) classes.push('chosen');
    if (row.step === store.at) classes.push('current');
    for (const kind of classes) {
      layer.push(makeSvg('rect', { class: `band ${kind}`, x: 0, y: y(i) - TALL / 2, width: whole, height: TALL }));
    }
    layer.push(makeSvg('rect', { class: 'hit', 'data-row': i, x: 0, y: y(i) - TALL / 2, width: whole, height: TALL }));
    if (i === drawn.firsts[row.step - 1]) {
      layer.push(makeSvg('text', { class: 'step-number', x: GUTTER - 10, y: y(i) + 4, 'text-anchor': 'end', text: String(row.step + store.run.skipped) }));
    }
  }
}

function slanted(layers, arrow, y) {
  const [sent, got] = [drawn.rows[arrow.from], drawn.rows[arrow.to]];
  const late = got.step > store.at ? ' later' : '';
  const [x1, x2, y1, y2] = [x(sent.life), x(got.life), y(arrow.from), y(arrow.to)];
  if (x1 === x2) {
    const d = `M${x1} ${y1}C${x1 + 40} ${y1} ${x1 + 40} ${y2} ${x1} ${y2}`;
    layers.over.push(makeSvg('path', { class: `arrow${late}`, d, 'marker-end': 'url(#tip)' }));
    return;
  }
  layers.over.push(makeSvg('line', { class: `arrow${late}`, x1, y1, x2, y2, 'marker-end': 'url(#tip)' }));
}

function label(text, at, anchor, room, kind) {
  const node = makeSvg('text', { class: `label ${kind}`, x: at[0], y: at[1], 'text-anchor': anchor, text: cut(text, room) });
  if (text.length * metrics.letter > room) node.append(makeSvg('title', { text }));
  return node;
}

function drawMark(layers, index, at) {
  const row = drawn.rows[index];
  const here = x(row.life);
  const late = row.step > store.at ? 'later' : '';
  const put = (node) => layers.over.push(node);
  if (row.kind === 'internal' || row.kind === 'fault') {
    const room = row.kind === 'fault' ? Math.max(width, 260) : width - 12;
    const wide = Math.min(room, row.text.length * metrics.letter + 16);
    const left = Math.max(GUTTER, here - wide / 2);
    put(makeSvg('rect', { class: `box ${row.kind} ${late}`, x: left, y: at - 11, width: wide, height: 22, rx: 4 }));
    put(label(row.text, [left + wide / 2, at + 4], 'middle', wide - 10, `${row.kind} ${late}`));
  } else if (row.kind === 'meet') {
    const to = x(row.to);
    put(makeSvg('line', { class: `arrow ${late}`, x1: here, y1: at + 5, x2: to, y2: at + 5, 'marker-end': 'url(#tip)' }));
    put(label(row.text, [(here + to) / 2, at], 'middle', Math.abs(to - here) - 10, late));
  } else if (row.kind === 'send') {
    const to = row.received === undefined ? null : x(drawn.rows[row.received].life);
    const right = to === null || to >= here;
    if (to === null) {
      put(makeSvg('line', { class: `arrow waiting ${late}`, x1: here, y1: at + 3, x2: here + 30, y2: at + 3 }));
      put(makeSvg('circle', { class: `waiting ${late}`, cx: here + 34, cy: at + 3, r: 4 }));
    }
    put(label(row.text, [here + (right ? 8 : -8), at - 4], right ? 'start' : 'end', width - 14, late));
  } else if (row.from === undefined) {
    put(makeSvg('line', { class: `arrow ${late}`, x1: here - 30, y1: at + 3, x2: here, y2: at + 3, 'marker-end': 'url(#tip)' }));
    put(label(row.text, [here - 6, at - 4], 'end', width - 14, late));
  }
  if (index + 1 === (drawn.firsts[row.step] ?? drawn.rows.length)) drawChanges(layers, row, at, late);
}

// Right of the lines what the step has changed.
function drawChanges(layers, row, at, late) {
  const told = store.run.told(row.step).filter(([name]) => showsVariable(name)).map(([name, value]) => `${nameFor(name, row.life.name)} = ${value}`);
  if (row.output) told.unshift(`prints ${JSON.stringify(row.output.trim())}`);
  if (!told.length || noise.messages) return;
  const from = GUTTER + width * Math.max(1, drawn.lives.size) + 10;
  layers.over.push(label(told.join(', '), [from, at + 4], 'start', parseFloat(space.style.width) - from - 4, `changes ${late}`));
}

export function refreshChart() {
  if (!view.isConnected) return;
  build();
  layout();
  const row = store.at === 0 ? 0 : drawn.firsts[store.at - 1];
  const top = row * TALL;
  const height = seen.height - seen.heads;
  if (seen.height && (top < seen.top || top > seen.top + height - 2 * TALL)) {
    view.scrollTop = top - height / 2;
    seen.top = view.scrollTop;
  }
  paint();
}

function clicked(event) {
  const box = view.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top - heads.offsetHeight + view.scrollTop) / TALL);
  if (drawn.rows[row] && event.clientY > box.top + heads.offsetHeight) goTo(drawn.rows[row].step);
}

export function chartView() {
  return { node: view, shown: refreshChart };
}

export function startChart() {
  view.addEventListener('scroll', () => { seen.top = view.scrollTop; paint(); });
  view.addEventListener('click', clicked);
  view.addEventListener('keydown', (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (by) { event.preventDefault(); event.stopPropagation(); goTo(store.at + by); }
  });
  new ResizeObserver(() => {
    Object.assign(seen, { width: view.clientWidth, height: view.clientHeight, top: view.scrollTop, heads: heads.offsetHeight });
    refreshChart();
  }).observe(view);
  listen('moved line', refreshChart);
  listen('noise', () => { drawn.run = null; refreshChart(); });
}
