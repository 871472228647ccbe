// The run as a list: number, process, statement, what changed. `find` keeps the steps that contain a text.

import { byId, make, plural } from './dom.js';
import { goTo, listen, store } from './store.js';
import { List } from './list.js';
import { nameFor, stepProcess, stepText } from './run.js';
import { chosen } from './source.js';
import { isQuiet, showsStep, showsVariable } from './noise.js';

let list = null;
let filtered = null;
const note = make('div', { class: 'note' });
const view = make('div', { class: 'history' });

export function changesText(run, at) {
  const process = stepProcess(run.steps[at - 1]);
  return run.told(at).filter(([name]) => showsVariable(name)).map(([name, value]) => `${nameFor(name, process)} = ${value}`).join(', ');
}

// One row of a run: the state after `at` steps.
export function drawStep(run, at) {
  if (at === 0) {
    const state = run.state(0);
    const told = state.names.map((name, i) => (name.endsWith('@') || !showsVariable(name) ? null : `${name} = ${state.values[i]}`)).filter(Boolean);
    return make('div', { class: 'event' }, make('span', { class: 'count', text: run.skipped ? String(run.skipped) : '0' }), make('span', { class: 'what', text: 'initially' }), make('span', { class: 'effect', text: told.join(', '), title: told.join('\n') }));
  }
  const step = run.steps[at - 1];
  const pid = step.actions.length ? step.actions[0].pid : 0;
  const line = step.actions.length && step.actions[0].at ? `line ${step.actions[0].at[1]}` : '';
  const effect = step.fault ? `✗ ${step.fault.message}` : changesText(run, at);
  const onLine = chosen.line && step.actions.some((a) => a.at && a.at[0] === chosen.file && a.at[1] === chosen.line);
  const inCycle = run.loop !== null && at > run.loop;
  return make('div', { class: `event${inCycle ? ' cycle' : ''}${onLine ? ' chosen' : ''}${step.fault ? ' bad' : ''}`, title: `${stepProcess(step)} ${stepText(step)}\n${effect}` },
    make('span', { class: 'count', text: String(run.skipped + at) }),
    step.actions.length && step.actions[0].process ? make('span', { class: `who hue${pid % 8}`, text: stepProcess(step) }) : null,
    make('span', { class: 'place', text: line }),
    make('span', { class: 'what', text: stepText(step) }),
    make('span', { class: 'effect', text: effect }));
}

function matches(at, wanted) {
  const step = store.run.steps[at - 1];
  const text = `${stepProcess(step)} ${stepText(step)} ${changesText(store.run, at)} ${step.fault ? step.fault.message : ''}`;
  return text.toLowerCase().includes(wanted);
}

export function refreshHistory() {
  if (!view.isConnected) return;
  const wanted = byId('find').value.trim().toLowerCase();
  filtered = null;
  if (wanted || isQuiet()) {
    filtered = [];
    for (let at = 1; at <= store.run.length; at += 1) {
      if ((!wanted || matches(at, wanted)) && showsStep(store.run.steps[at - 1])) filtered.push(at);
    }
  }
  const current = filtered ? filtered.indexOf(store.at) : store.at;
  note.textContent = wanted ? `${plural(filtered.length, 'step')} with “${wanted}”` : '';
  note.hidden = !wanted;
  list.update(filtered ? filtered.length : store.run.length + 1, current, current);
}

export function historyView() {
  return { node: view, shown: refreshHistory };
}

export function startHistory() {
  list = new List('Steps of the run', (index) => drawStep(store.run, filtered ? filtered[index] : index), (index) => goTo(filtered ? filtered[index] : index));
  list.node.id = 'history-list';
  view.append(note, list.node);
  listen('moved line noise', refreshHistory);
  byId('find').addEventListener('input', refreshHistory);
}
