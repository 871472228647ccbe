// A run: the first state and its steps. The state after any step is rebuilt from the changes, starting at the nearest of
// the states that are kept whole, so that a run of ten thousand steps is quick to jump about in.

const KEEP_EVERY = 64;

export class Run {
  constructor(story) {
    this.title = story.title || '';
    this.skipped = story.skipped || 0;
    this.start = story.start;
    this.loop = story.loop === undefined ? null : story.loop;
    this.steps = [];
    const names = story.initial.map((v) => v[0]);
    this.kept = [{ names, values: story.initial.map((v) => v[1]) }];
    this.last = { at: 0, state: this.kept[0] };
    for (const step of story.steps) this.push(step);
  }

  get length() { return this.steps.length; }

  push(step) {
    this.steps.push(step);
    if (this.steps.length % KEEP_EVERY === 0) this.kept.push(this.state(this.steps.length));
  }

  truncate(length) {
    this.steps.length = length;
    this.kept.length = Math.floor(length / KEEP_EVERY) + 1;
    this.loop = null;
    if (this.last.at > length) this.last = { at: 0, state: this.kept[0] };
  }

  // The variables after so many steps: names and values side by side.
  state(at) {
    let from = Math.min(Math.floor(at / KEEP_EVERY), this.kept.length - 1) * KEEP_EVERY;
    let state = this.kept[from / KEEP_EVERY];
    if (this.last.at <= at && this.last.at >= from) { from = this.last.at; state = this.last.state; }
    for (let i = from; i < at; i += 1) state = after(state, this.steps[i]);
    this.last = { at, state };
    return state;
  }

  // The names of the variables that the step before `at` has changed, and their values before.
  changes(at) {
    const changed = new Map();
    if (at === 0) return changed;
    const step = this.steps[at - 1];
    const before = this.state(at - 1);
    if (step.changed) {
      for (const [i] of step.changed) changed.set(before.names[i], before.values[i]);
      return changed;
    }
    const old = new Map(before.names.map((name, i) => [name, before.values[i]]));
    for (const [name, value] of step.variables) {
      if (old.get(name) !== value) changed.set(name, old.has(name) ? old.get(name) : null);
    }
    return changed;
  }

  // What a step changed, as it is afterwards, without the places of processes.
  told(at) {
    const step = this.steps[at - 1];
    const now = this.state(at);
    const names = step.changed ? step.changed.map(([i]) => now.names[i]) : [...this.changes(at).keys()];
    const index = step.changed ? null : new Map(now.names.map((name, i) => [name, i]));
    const told = [];
    names.forEach((name, k) => {
      if (name.endsWith('@')) return;
      told.push([name, now.values[step.changed ? step.changed[k][0] : index.get(name)]]);
    });
    return told;
  }

  // The number of the state after so many steps, where there is an engine.
  number(at) {
    return at === 0 ? this.start : this.steps[at - 1].target;
  }

  ordinals() {
    return this.steps.map((s) => s.ordinal);
  }

  // The run in one word, as the command line reads it.
  word() {
    const parts = (list) => {
      const out = [];
      for (let i = 0; i < list.length;) {
        let n = i;
        while (n < list.length && list[n] === list[i]) n += 1;
        out.push(n - i > 1 ? `${list[i]}x${n - i}` : `${list[i]}`);
        i = n;
      }
      return out.join('.');
    };
    const all = this.ordinals();
    if (this.loop === null) return `run:${parts(all)}`;
    return `run:${parts(all.slice(0, this.loop))}~${parts(all.slice(this.loop))}`;
  }
}

function after(state, step) {
  if (step.variables) {
    return { names: step.variables.map((v) => v[0]), values: step.variables.map((v) => v[1]) };
  }
  if (!step.changed.length) return state;
  const values = state.values.slice();
  for (const [i, value] of step.changed) values[i] = value;
  return { names: state.names, values };
}

// A statement as it is written: the condition that is always true is `skip`.
export function spoken(text) {
  return text === '(1)' ? 'skip' : text;
}

// What a step did, in one line.
export function stepText(step) {
  if (!step.actions.length) return step.label;
  return step.actions.map((a) => spoken(a.text)).join('; ');
}

export function processName(action) {
  return action.process ? `${action.process}(${action.pid})` : '';
}

export function stepProcess(step) {
  return step.actions.length ? processName(step.actions[0]) : '';
}

// Where a process of a state is: from its line among the variables.
export function lineOf(value) {
  const found = /^line (\d+)/.exec(value);
  return found ? Number(found[1]) : null;
}

// A name such as `P[1]:x` taken apart: the process and the rest.
export function owner(name) {
  const found = /^(.+?\[\d+\])([:@])(.*)$/.exec(name);
  return found ? [found[1], found[3]] : ['', name];
}

// A variable as the acting process would name it: its own ones without the process.
export function nameFor(name, process) {
  const [holder, own] = owner(name);
  return holder && holder.replace('[', '(').replace(']', ')') === process ? own : name;
}
