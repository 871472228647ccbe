// Less noise: only messages, no steps of some processes, only some variables. The command line says how the page begins
// (--only messages, --hide, --show); `m` and the heads of the chart change it.

import { byId } from './dom.js';
import { data, tell } from './store.js';

const given = data.view || {};
export const noise = { messages: Boolean(given.messages), hidden: new Set(given.hide || []), shown: given.show || [] };

export function hidesProcess(process, pid) {
  if (!process) return false;
  return [process, `${process}(${pid})`, `${process}[${pid}]`, String(pid)].some((name) => noise.hidden.has(name));
}

export function showsAction(action) {
  return !hidesProcess(action.process, action.pid) && (!noise.messages || Boolean(action.event));
}

export function showsStep(step) {
  if (step.fault) return true;
  if (!step.actions.length) return !noise.messages;
  return step.actions.some(showsAction);
}

export function showsVariable(name) {
  if (!noise.shown.length) return true;
  const local = name.split(':').pop();
  const base = (text) => text.split(/[[.]/)[0];
  return [name, local, base(local), base(name)].some((one) => noise.shown.includes(one));
}

export function isQuiet() {
  return noise.messages || noise.hidden.size > 0;
}

export function refreshNoise() {
  byId('only-messages').setAttribute('aria-pressed', String(noise.messages));
  const some = noise.hidden.size > 0;
  byId('show-all').hidden = !some;
  byId('show-all').textContent = `show ${noise.hidden.size} hidden`;
  byId('show-all').title = `Show ${[...noise.hidden].join(', ')} again (a)`;
}

function changed() {
  refreshNoise();
  tell('noise');
}

export function toggleMessages() {
  noise.messages = !noise.messages;
  changed();
}

export function hideProcess(name) {
  noise.hidden.add(name);
  changed();
}

export function showAllProcesses() {
  noise.hidden.clear();
  changed();
}

export function startNoise() {
  byId('only-messages').addEventListener('click', toggleMessages);
  byId('show-all').addEventListener('click', showAllProcesses);
  refreshNoise();
}
