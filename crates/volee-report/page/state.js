// The state: processes with what they wait for, variables with what has changed, channels with what they hold.

import { byId, fill, make } from './dom.js';
import { data, listen, store } from './store.js';
import { List } from './list.js';
import { lineOf, owner } from './run.js';
import { showPlace } from './source.js';
import { showsVariable } from './noise.js';

let list = null;
let rows = [];
let changed = new Map();
const folded = new Set();
const MOST_SLOTS = 16;

// The channels of this state: by name, with their messages and how many fit.
function channels() {
  const known = new Map();
  const told = store.look ? store.look.inspection.channels : atEnd() ? data.end.inspection.channels : [];
  for (const queue of told) known.set(queue.name, queue);
  return known;
}

// Whether this is the state that a report tells more about: the last of its run.
function atEnd() {
  return Boolean(data.end && store.run === store.first && store.at === store.run.length);
}

const capacities = new Map();

// A value such as `[a,1 | b,2]` as messages; null where it is no channel.
export function messagesOf(value) {
  const inside = /^\[(.*)\]$/.exec(value);
  if (!inside) return null;
  return inside[1] === '' ? [] : inside[1].split(' | ').map((m) => m.split(','));
}

function collect() {
  const state = store.run.state(store.at);
  changed = store.run.changes(store.at);
  const wanted = byId('filter').value.trim().toLowerCase();
  const queues = channels();
  for (const [name, queue] of queues) capacities.set(name, queue.capacity);
  rows = [];
  let group = null;
  state.names.forEach((name, i) => {
    if (name.endsWith('@') || !showsVariable(name)) return;
    const value = state.values[i];
    if (wanted && !`${name} = ${value}`.toLowerCase().includes(wanted)) return;
    const [process, own] = owner(name);
    if (process !== group) {
      group = process;
      if (process) rows.push({ group: process });
    }
    if (process && folded.has(process)) return;
    const queue = queues.get(name);
    const messages = queue ? queue.messages : messagesOf(value);
    rows.push({ name, own, value, messages, capacity: queue ? queue.capacity : capacities.get(name) });
  });
}

function drawRow(index) {
  const row = rows[index];
  if (row.group) {
    const name = row.group.replace('[', '(').replace(']', ')');
    return make('div', { class: 'group', title: 'fold or unfold' }, `${folded.has(row.group) ? '▸' : '▾'} ${name}`);
  }
  const was = changed.has(row.name);
  const before = was ? changed.get(row.name) : null;
  const title = `${row.name} = ${row.value}${before === null ? '' : `, before: ${before}`}`;
  return make('div', { class: `variable${was ? ' changed' : ''}`, title },
    make('span', { class: 'name', text: row.own }),
    row.messages ? drawQueue(row) : make('span', { class: 'value', text: row.value }),
    was && before !== null && !row.messages ? make('span', { class: 'before', text: before }) : null);
}

function drawQueue(row) {
  const slots = row.messages.map((m, i) => make('span', { class: `slot${i === 0 ? ' first' : ''}`, text: m.join(',') }));
  const capacity = row.capacity || 0;
  if (capacity <= MOST_SLOTS) {
    for (let i = row.messages.length; i < capacity; i += 1) slots.push(make('span', { class: 'slot empty', text: '\u00a0' }));
  } else {
    slots.push(make('span', { class: 'room', text: `${row.messages.length} of ${capacity}` }));
  }
  if (!capacity && !row.messages.length) slots.push(make('span', { class: 'room', text: 'empty' }));
  return make('span', { class: 'queue' }, slots);
}

function choose(index) {
  const row = rows[index];
  if (!row) return;
  list.current = index;
  if (row.group) {
    if (!folded.delete(row.group)) folded.add(row.group);
    refreshVariables();
  }
}

export function refreshVariables() {
  collect();
  list.update(rows.length);
}

// Another state: the first variable that has changed is in sight.
function moved() {
  collect();
  list.update(rows.length, -1, rows.findIndex((row) => row.name && changed.has(row.name)));
}

// One line for each process: where it is, and what it waits for.
function drawProcess(p) {
  const name = `${p.process}(${p.pid})`;
  const place = p.options.map((o) => o.place).find(Boolean);
  const waits = p.options.every((o) => o.waits) && p.options.length > 0;
  const at = place ? `line ${place.line}` : '';
  const file = place ? data.model.files.findIndex((f) => f.name === place.file) : -1;
  const show = () => { if (file >= 0) showPlace([file, place.line, place.column]); };
  let status = [];
  if (p.ended) status = [make('span', { class: 'quiet', text: waits ? 'at its end' : 'about to end' })];
  else if (waits) {
    const why = [...new Set(p.options.map((o) => o.waits))].join(' or ');
    const because = [...new Set(p.options.flatMap((o) => o.because || []))].join(', ');
    status = [make('span', { class: 'waits', text: why }), because ? make('span', { class: 'because', text: because }) : null];
  } else {
    const can = p.options.filter((o) => !o.waits).map((o) => o.text);
    status = [make('span', { class: 'can', text: [...new Set(can)].join(' or ') })];
  }
  if (waits && !p.ended && p.may_end) status.push(make('span', { class: 'quiet', text: 'may end here' }));
  return make('div', { class: `process${waits && !p.ended ? ' stuck' : ''}`, tabindex: '0', role: 'button', onclick: show, onkeydown: (e) => { if (e.key === 'Enter') show(); } },
    make('span', { class: `who hue${p.pid % 8}`, text: name }),
    make('span', { class: 'place', text: at }),
    make('span', { class: 'status' }, status));
}

// Without an engine only the lines of processes are known, but for the last state of the run.
function bareProcess(name, value) {
  const line = lineOf(value);
  const [process] = owner(name);
  const pid = Number(/\[(\d+)\]/.exec(process)?.[1] || 0);
  return make('div', { class: 'process', tabindex: '0', role: 'button', onclick: () => line && showPlace([0, line, 1]) },
    make('span', { class: `who hue${pid % 8}`, text: process.replace('[', '(').replace(']', ')') }),
    make('span', { class: 'place', text: value }));
}

export function refreshProcesses() {
  const inspection = store.look ? store.look.inspection : atEnd() ? data.end.inspection : null;
  const box = byId('processes-body');
  let drawn;
  if (inspection && inspection.processes.length) drawn = inspection.processes.map(drawProcess);
  else {
    const state = store.run.state(store.at);
    drawn = state.names.map((name, i) => (name.endsWith('@') ? bareProcess(name, state.values[i]) : null)).filter(Boolean);
  }
  byId('processes').hidden = drawn.length === 0;
  fill(box, drawn);
  const end = store.look ? store.look.end : atEnd() ? data.end.end : '';
  byId('why-note').textContent = end === 'deadlock' ? 'why nobody moves' : '';
  byId('processes').classList.toggle('deadlock', end === 'deadlock');
}

export function startState() {
  list = new List('Variables', drawRow, choose);
  list.node.id = 'variable-list';
  fill(byId('variables-body'), list.node);
  byId('filter').addEventListener('input', refreshVariables);
  listen('moved', () => {
    moved();
    if (!store.look) refreshProcesses();
  });
  listen('look', () => { refreshVariables(); refreshProcesses(); });
}
