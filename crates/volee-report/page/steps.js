// What can happen next: each step with what it would do, taken by a click, by its number or by Enter.

import { byId, fill, make, plural } from './dom.js';
import { listen, store, take } from './store.js';
import { List } from './list.js';
import { stepProcess, stepText } from './run.js';

let list = null;
// What is listed: until the engine has told about the next state, that of the last one.
let listed = null;

// What a step would change, in words.
function effect(step) {
  const names = listed.variables.map((v) => v[0]);
  const changed = step.changed
    ? step.changed.map(([i, value]) => [names[i], value])
    : step.variables.filter(([name, value]) => !listed.variables.some(([n, v]) => n === name && v === value));
  const told = changed.filter(([name]) => !name.endsWith('@')).map(([name, value]) => `${name} = ${value}`);
  const partner = step.actions.map((a) => a.event && a.event.partner).find(Boolean);
  if (partner) told.unshift(`→ ${partner[0]}(${partner[1]})`);
  if (!step.changed && listed.variables.length > step.variables.length) told.push('a process ends');
  return told.join(', ');
}

function draw(index) {
  const step = listed.steps[index];
  const visited = store.visited.has(step.target);
  const text = stepText(step);
  const told = step.fault ? step.fault.message : effect(step);
  const next = store.at < store.run.length && store.run.steps[store.at].ordinal === step.ordinal;
  const key = index < 9 ? String(index + 1) : '';
  const pid = step.actions.length ? step.actions[0].pid : 0;
  return make('div', { class: `step${next ? ' redo' : ''}${step.fault ? ' bad' : ''}`, title: `${stepProcess(step)} ${text}\n${told}${visited ? '\nto a state that was visited' : ''}` },
    make('kbd', { text: key }),
    step.actions.length && step.actions[0].process ? make('span', { class: `who hue${pid % 8}`, text: stepProcess(step) }) : null,
    make('span', { class: 'what', text }),
    make('span', { class: 'effect', text: told }),
    make('span', { class: 'seen', text: visited ? '✓' : '', title: visited ? 'visited' : '' }));
}

export function takeNumber(index) {
  const step = store.look && store.look.steps[index];
  if (step && !step.stays) take(step);
}

// Moves the choice among the possible steps.
export function moveChoice(by) {
  if (!store.look || !store.look.steps.length) return;
  list.show(Math.max(0, Math.min(store.look.steps.length - 1, list.current + by)));
}

export function takeChosen() {
  if (list.current >= 0) takeNumber(list.current);
}

function refresh() {
  const look = store.look;
  if (!look) return;
  listed = look;
  const note = byId('next-note');
  note.className = look.end === 'deadlock' ? 'bad' : '';
  if (look.end) note.textContent = look.end === 'valid' ? 'nobody can move: a valid end' : 'deadlock: nobody can move';
  else note.textContent = look.total > look.steps.length ? `the first ${look.steps.length} of ${look.total}` : plural(look.total, 'step');
  const next = store.at < store.run.length ? look.steps.findIndex((s) => s.ordinal === store.run.steps[store.at].ordinal) : 0;
  list.scroll(0);
  list.update(look.steps.length, look.steps.length ? Math.max(0, next) : -1, next);
}

export function startSteps() {
  list = new List('Possible steps', draw, (index) => takeNumber(index));
  list.node.id = 'next-list';
  // The arrows choose here; Enter takes.
  list.keyed = (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) { event.preventDefault(); event.stopPropagation(); moveChoice(by); }
  };
  fill(byId('next-body'), list.node);
  listen('look', refresh);
}
