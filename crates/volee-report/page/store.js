// What the page knows: the model, the run, where one is in it, the states that were visited, and the engine behind, if
// there is one. Panels listen for changes; everything that moves goes through here.

import { notify } from './dom.js';
import { Run } from './run.js';

export const data = JSON.parse(document.getElementById('data').textContent);
export const isLive = Boolean(data.live);

export const store = {
  run: null,
  at: 0,
  look: null,
  looks: new Map(),
  visited: new Map(),
  runs: [],
  coverage: (data.answer && data.answer.coverage) || null,
  coverageNote: (data.answer && data.answer.coverage_note) || '',
  busy: 0,
};

const listeners = new Map();

// Calls `heard` whenever one of these things has happened: 'moved' (another state or run), 'look' (the engine has told
// about the state), 'runs' (the list of kept runs), 'coverage'.
export function listen(events, heard) {
  for (const event of events.split(' ')) {
    if (!listeners.has(event)) listeners.set(event, []);
    listeners.get(event).push(heard);
  }
}

export function tell(event) {
  for (const heard of listeners.get(event) || []) heard();
}

// Asks the engine; what is wrong is told to the user and thrown.
export async function ask(question) {
  store.busy += 1;
  try {
    const reply = await fetch('api', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-volee-token': data.live.token },
      body: JSON.stringify(question),
    });
    const text = await reply.text();
    let value;
    try { value = JSON.parse(text); } catch { value = { error: text }; }
    if (!reply.ok) throw new Error(value.error || text);
    return value;
  } catch (wrong) {
    const gone = wrong instanceof TypeError;
    notify(gone ? 'volee has ended: what needs its engine no longer works' : wrong.message, 'bad');
    throw wrong;
  } finally {
    store.busy -= 1;
  }
}

function visit(number, variables) {
  if (number === undefined || store.visited.has(number)) return;
  store.visited.set(number, { number, edges: new Map(), open: null, variables });
}

function visitStep(run, at) {
  const step = run.steps[at];
  const from = run.number(at);
  visit(step.target, null);
  const source = store.visited.get(from);
  if (source) source.edges.set(step.ordinal, { target: step.target, label: step.label });
}

function visitAll(run) {
  if (run.start === undefined) return;
  visit(run.start, null);
  for (let at = 0; at < run.length; at += 1) visitStep(run, at);
}

// The variables of a visited state, from the run or from what the engine has told.
export function variablesOf(number) {
  const look = store.looks.get(number);
  if (look) return look.variables;
  const state = store.visited.get(number);
  return state && state.variables;
}

export function showRun(run, at) {
  store.run = run;
  visitAll(run);
  goTo(Math.min(at, run.length));
}

// Where one is now: the state after `at` steps.
export function goTo(at) {
  const run = store.run;
  const to = Math.max(0, Math.min(at, run.length));
  store.at = to;
  const number = run.number(to);
  store.look = number === undefined ? null : store.looks.get(number) || null;
  if (number !== undefined) remember(number, run.state(to));
  tell('moved');
  if (isLive && !store.look) lookAt(number);
  else if (store.look) tell('look');
}

function remember(number, state) {
  const visited = store.visited.get(number);
  if (visited && !visited.variables) visited.variables = state.names.map((name, i) => [name, state.values[i]]);
}

const MOST_LOOKS = 2000;

function keepLook(look) {
  if (store.looks.size >= MOST_LOOKS) store.looks.delete(store.looks.keys().next().value);
  store.looks.set(look.state, look);
  const visited = store.visited.get(look.state);
  if (visited) { visited.open = look.total; visited.end = look.end; visited.variables = look.variables; }
}

let wanted = null;

async function lookAt(number) {
  wanted = number;
  // While somebody drags the slider only the state where they stop is asked for.
  if (store.busy > 0) await new Promise((done) => { setTimeout(done, 30); });
  if (wanted !== number) return;
  const look = await ask({ ask: 'look', state: number }).catch(() => null);
  if (!look) return;
  keepLook(look);
  if (store.run.number(store.at) === number) {
    store.look = look;
    tell('look');
  }
}

// Takes a step that is possible here. The rest of the run is given up, unless the step is the next of it.
export function take(step) {
  const run = store.run;
  if (store.at < run.length && run.steps[store.at].ordinal === step.ordinal) { goTo(store.at + 1); return; }
  append([step]);
}

// Goes on with these steps from here and to their end.
export function append(steps) {
  const run = store.run;
  if (store.at < run.length) {
    keepRun(copyOf(run), true);
    run.truncate(store.at);
  }
  run.loop = null;
  for (const step of steps) {
    run.push(step);
    visitStep(run, run.length - 1);
  }
  goTo(run.length);
}

// A run that is given up is kept once, so that undo is never lost.
function copyOf(run) {
  const initial = run.kept[0].names.map((name, i) => [name, run.kept[0].values[i]]);
  return new Run({ title: run.title, start: run.start, initial, steps: run.steps, loop: run.loop, skipped: run.skipped });
}

const MOST_RUNS = 20;

// Keeps a run in the list; one that was given up takes the place of the one given up before.
export function keepRun(run, givenUp) {
  const before = store.runs.findIndex((kept) => kept.givenUp);
  if (givenUp && before >= 0) store.runs.splice(before, 1);
  if (givenUp) { run.givenUp = true; run.title = 'left when another step was taken'; }
  if (store.runs.length >= MOST_RUNS) store.runs.shift();
  store.runs.push(run);
  tell('runs');
}

export function keepCurrent(title) {
  const copy = copyOf(store.run);
  copy.title = title;
  keepRun(copy, false);
  return copy;
}

const ENDED = {
  steps: '', condition: 'the condition is true here', fault: 'a step went wrong', valid: 'nobody can move: a valid end',
  deadlock: 'nobody can move, and this is not a valid end', time: 'stopped after ten seconds',
};

export async function walk(steps, until) {
  const seed = Math.floor(Math.random() * 2 ** 50);
  const state = store.run.number(store.at);
  const told = await ask({ ask: 'walk', state, steps, seed, until: until || null }).catch(() => null);
  if (!told) return;
  if (told.steps.length) append(told.steps);
  const ended = ENDED[told.ended] || (until ? `the condition was not met in ${steps} random steps` : '');
  if (ended) notify(ended, told.ended === 'fault' || told.ended === 'deadlock' ? 'bad' : '');
}

export async function nearest(until) {
  const told = await ask({ ask: 'nearest', state: store.run.number(store.at), until }).catch(() => null);
  if (told) { append(told.steps); notify(`a shortest way: ${told.steps.length} steps`); }
}

// Starts from the first state again, with nothing visited.
export async function startAnew() {
  const document_ = await ask({ ask: 'forget' }).catch(() => null);
  if (!document_) return;
  store.looks.clear();
  store.visited.clear();
  store.runs.length = 0;
  tell('runs');
  begin(document_.start);
}

// An empty run at a state that the engine has told about.
export function begin(look) {
  visit(look.state, look.variables);
  keepLook(look);
  showRun(new Run({ title: 'a walk', start: look.state, initial: look.variables, steps: [] }), 0);
}
