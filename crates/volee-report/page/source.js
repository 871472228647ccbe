// The source: where every process stands, what was just done, how often statements ran. A line that is chosen marks the steps
// of the run that execute it, and the other way round.

import { byId, fill, make, metrics, plural } from './dom.js';
import { data, listen, store, tell } from './store.js';
import { List } from './list.js';
import { lineOf, owner } from './run.js';

const files = data.model.files;
const KEYWORDS = new Set(('active assert atomic bit bool break byte chan c_code d_step do else empty enabled fi for full goto hidden '
  + 'if init inline int len local ltl mtype nempty never nfull notrace od of pid printf priority proctype provided run select '
  + 'short skip timeout trace typedef unless unsigned xr xs true false define include').split(' '));

export const chosen = { file: 0, line: null };
let shown = 0;
let lines = [];
let comments = [];
let list = null;

// For each line whether it begins inside a comment.
function insideComments(all) {
  let inside = false;
  return all.map((line) => {
    const began = inside;
    for (const mark of line.matchAll(/\/\*|\*\/|\/\/.*/g)) {
      if (mark[0] === '/*') inside = true;
      else if (mark[0] === '*/') inside = false;
      else if (!inside) break;
    }
    return began;
  });
}

function openFile(index) {
  shown = index;
  lines = files[index].text.split('\n');
  if (lines.length > 1 && lines[lines.length - 1] === '') lines.pop();
  comments = insideComments(lines);
  const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  list.rows.style.minWidth = `${(Math.min(longest, 400) + 14) * metrics.letter}px`;
  for (const tab of byId('files').children) tab.setAttribute('aria-selected', String(Number(tab.dataset.file) === index));
  refresh();
}

// The marks of the state: for each line the processes that stand there.
function standing() {
  const marks = new Map();
  const add = (file, line, mark) => {
    if (file !== shown) return;
    if (!marks.has(line)) marks.set(line, []);
    marks.get(line).push(mark);
  };
  if (store.look && store.look.inspection.processes.length) {
    for (const p of store.look.inspection.processes) {
      const name = `${p.process}(${p.pid})`;
      const seen = new Set();
      for (const option of p.options) {
        if (!option.place) continue;
        const file = files.findIndex((f) => f.name === option.place.file);
        const key = `${file}:${option.place.line}:${option.place.column}`;
        if (seen.has(key)) continue;
        seen.add(key);
        add(file, option.place.line, { name, pid: p.pid, column: option.place.column, text: option.text, waits: Boolean(option.waits) });
      }
    }
    return marks;
  }
  const state = store.run.state(store.at);
  state.names.forEach((name, i) => {
    if (!name.endsWith('@')) return;
    const line = lineOf(state.values[i]);
    const [process] = owner(name);
    const pid = Number(/\[(\d+)\]/.exec(process)?.[1] || 0);
    if (line) add(0, line, { name: process.replace('[', '(').replace(']', ')'), pid, column: 0, text: '', waits: false });
  });
  return marks;
}

// The statements of the step that led here, by line.
function done() {
  const lastLines = new Map();
  if (store.at === 0) return lastLines;
  for (const action of store.run.steps[store.at - 1].actions) {
    if (action.at && action.at[0] === shown) lastLines.set(action.at[1], action);
  }
  return lastLines;
}

let marks = new Map();
let lastDone = new Map();
let counts = null;

function refresh() {
  if (!list) return;
  marks = standing();
  lastDone = done();
  counts = coverageByLine();
  list.update(lines.length, chosen.file === shown && chosen.line ? chosen.line - 1 : -1);
}

// For each line with a statement how often its most executed one ran.
function coverageByLine() {
  if (!store.coverage) return null;
  const by = new Map();
  for (const s of store.coverage) {
    if (!s.at || s.at[0] !== shown) continue;
    const known = by.get(s.at[1]);
    by.set(s.at[1], { most: Math.max(known ? known.most : 0, s.times), least: Math.min(known ? known.least : Infinity, s.times) });
  }
  return by;
}

function coverageCell(number) {
  const of = counts.get(number);
  if (!of) return make('span', { class: 'covered' });
  const kind = of.most === 0 ? 'never' : of.least === 0 ? 'partly' : 'ran';
  const short = of.most >= 1e6 ? `${Math.round(of.most / 1e5) / 10}M` : of.most >= 1e4 ? `${Math.round(of.most / 1e3)}k` : String(of.most);
  return make('span', { class: `covered ${kind}`, title: `executed ${plural(of.most, 'time')}`, text: short });
}

function drawLine(index) {
  const number = index + 1;
  const here = marks.get(number) || [];
  const row = make('div', { class: 'line' },
    counts && coverageCell(number),
    make('span', { class: 'number', text: String(number) }));
  const code = make('span', { class: 'code' });
  highlight(code, lines[index], comments[index], spansOf(lines[index], here, lastDone.get(number)));
  row.append(code);
  if (here.length) {
    const names = [...new Set(here.map((m) => m.name))];
    for (const name of names) {
      const mark = here.find((m) => m.name === name);
      const waits = here.filter((m) => m.name === name).every((m) => m.waits);
      row.append(make('span', { class: `stand hue${mark.pid % 8}${waits ? ' waits' : ''}`, text: names.length > 1 ? shortName(name) : name, title: waits ? `${name} waits here` : `${name} is here` }));
    }
    row.classList.add('standing');
  }
  if (lastDone.has(number)) row.classList.add('done');
  return row;
}

// `Philosopher(2)` as `P2`, where several stand on one line.
function shortName(name) {
  const found = /^:?(\w)\w*:?\((\d+)\)$/.exec(name);
  return found ? `${found[1]}${found[2]}` : name;
}

// The parts of a line to mark: [from, to, class].
function spansOf(line, here, last) {
  const spans = [];
  const put = (column, text, kind) => {
    if (!column) return;
    const from = column - 1;
    const compact = text.replace(/[\s()]/g, '');
    let to = from;
    let matched = 0;
    while (to < line.length && matched < compact.length) {
      if (/[\s()]/.test(line[to])) { to += 1; continue; }
      if (line[to] !== compact[matched]) break;
      matched += 1;
      to += 1;
    }
    // The statement is written otherwise (a macro, say): up to where a statement can end.
    if (matched < compact.length) {
      const rest = /^.*?(?=;|->|$)/.exec(line.slice(from))[0];
      to = from + Math.max(1, rest.trimEnd().length);
    }
    while (to < line.length && line[to] === ')' && balance(line.slice(from, to)) > 0) to += 1;
    spans.push([from, to, kind]);
  };
  for (const mark of here) put(mark.column, mark.text, `at hue${mark.pid % 8}${mark.waits ? ' waits' : ''}`);
  if (last && last.at) put(last.at[2], last.text, 'just');
  return spans;
}

function balance(text) {
  let open = 0;
  for (const c of text) open += c === '(' ? 1 : c === ')' ? -1 : 0;
  return open;
}

const TOKENS = /\/\*|\*\/|\/\/.*|"(?:[^"\\]|\\.)*"?|[A-Za-z_]\w*|\d+|\s+|./g;

function highlight(node, line, inside, spans) {
  let comment = inside;
  for (const match of line.matchAll(TOKENS)) {
    const text = match[0];
    let kind = '';
    if (text === '/*') comment = true;
    if (comment || text.startsWith('//')) kind = 'comment';
    else if (text.startsWith('"')) kind = 'string';
    else if (KEYWORDS.has(text)) kind = 'keyword';
    else if (/^\d/.test(text)) kind = 'digits';
    if (text === '*/') comment = false;
    const classes = spans.filter(([from, to]) => match.index >= from && match.index < to).map((s) => s[2]).join(' ');
    node.append(kind || classes ? make('span', { class: `${kind} ${classes}`.trim(), text }) : text);
  }
}

function choose(index) {
  const again = chosen.file === shown && chosen.line === index + 1;
  chosen.file = shown;
  chosen.line = again ? null : index + 1;
  list.current = chosen.line ? index : -1;
  list.paint();
  tell('line');
}

// The numbers of the steps that execute the chosen line.
export function stepsOfLine() {
  if (!chosen.line) return [];
  const found = [];
  store.run.steps.forEach((step, i) => {
    if (step.actions.some((a) => a.at && a.at[0] === chosen.file && a.at[1] === chosen.line)) found.push(i + 1);
  });
  return found;
}

function note() {
  const steps = stepsOfLine();
  const text = !chosen.line ? '' : `line ${chosen.line}: ${plural(steps.length, 'step')}`;
  fill(byId('line-note'), text, steps.length ? make('span', { class: 'hint', text: ' n, p' }) : null);
}

export function showPlace(at) {
  if (!at || !list) return;
  if (at[0] !== shown) openFile(at[0]);
  list.show(at[1] - 1);
}

// Scrolls so that what was just done is in sight, or else where somebody stands.
function follow() {
  const action = store.at > 0 ? store.run.steps[store.at - 1].actions.find((a) => a.at) : null;
  const line = action ? action.at : null;
  if (line) {
    if (line[0] !== shown) openFile(line[0]);
    const keep = list.current;
    list.show(line[1] - 1);
    list.current = keep;
    list.paint();
  }
}

export function startSource() {
  if (!files.length) {
    document.body.classList.add('sourceless');
    return;
  }
  list = new List('Source lines', drawLine, choose);
  list.node.id = 'code-list';
  fill(byId('code'), list.node);
  byId('code').removeAttribute('tabindex');
  if (files.length > 1) {
    fill(byId('files'), files.map((file, i) => make('button', { role: 'tab', 'data-file': i, text: file.name.split('/').pop(), title: file.name, onclick: () => openFile(i) })));
  }
  openFile(0);
  listen('moved', () => { refresh(); follow(); note(); });
  listen('look coverage', refresh);
  listen('line', note);
}
