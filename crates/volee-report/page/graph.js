// The states that were visited, as a graph laid out by dagre: chains without branches are folded into one node, states are
// labelled with the variables one picks, and a text finds the states that have it. Of a large graph the part around the state
// one is at is shown.

import { byId, cut, fill, make, makeSvg, metrics } from './dom.js';
import { ask, goTo, listen, showRun, store, variablesOf } from './store.js';
import { Run } from './run.js';

const MOST_NODES = 250;
const picked = new Set();
const opened = new Set();
let folding = true;
let zoom = 1;

const canvas = make('div', { id: 'graph', class: 'graph', tabindex: '0', role: 'group', 'aria-label': 'Visited states' });
const choices = make('div', { class: 'graph-tools' });
const view = make('div', { class: 'graph-view' }, choices, canvas);

function labelOf(number) {
  const variables = variablesOf(number) || [];
  const told = variables.filter(([name]) => picked.has(name)).map(([name, value]) => `${name.replace(/@$/, '')} = ${value}`);
  return [`#${number}`, ...told];
}

// The states around `centre`, nearest first, at most so many.
function around(centre) {
  const back = new Map();
  for (const [number, state] of store.visited) {
    for (const edge of state.edges.values()) {
      if (!back.has(edge.target)) back.set(edge.target, []);
      back.get(edge.target).push(number);
    }
  }
  return { back, centre };
}

// Groups of states: each state alone, or the chain it is folded into.
function fold() {
  const { back } = around();
  const here = store.run.number(store.at);
  const wanted = byId('find').value.trim().toLowerCase();
  const found = (number) => wanted && labelText(number).includes(wanted);
  const plain = (number) => {
    const state = store.visited.get(number);
    const into = back.get(number) || [];
    return folding && number !== here && number !== store.run.start && !opened.has(number) && !found(number)
      && new Set(into).size === 1 && new Set([...state.edges.values()].map((e) => e.target)).size === 1 && !into.includes(number);
  };
  const group = new Map();
  const nodes = new Map();
  for (const number of store.visited.keys()) {
    if (!plain(number)) { group.set(number, number); nodes.set(number, { states: [number], chain: false }); }
  }
  for (const number of store.visited.keys()) {
    if (group.has(number)) continue;
    let first = number;
    const seen = new Set([number]);
    while (true) {
      const before = (back.get(first) || [])[0];
      if (before === undefined || !plain(before) || seen.has(before)) break;
      seen.add(before);
      first = before;
    }
    const key = `chain ${first}`;
    const states = [];
    for (let at = first; plain(at) && !group.has(at);) {
      group.set(at, key);
      states.push(at);
      at = [...store.visited.get(at).edges.values()][0].target;
    }
    if (states.length === 1) { group.set(states[0], states[0]); nodes.set(states[0], { states, chain: false }); }
    else nodes.set(key, { states, chain: true });
  }
  return { group, nodes, found };
}

function labelText(number) {
  const variables = variablesOf(number) || [];
  return `#${number} ${variables.map(([name, value]) => `${name} = ${value}`).join(', ')}`.toLowerCase();
}

// At most so many nodes: those nearest to where one is.
function near(graph) {
  if (graph.nodes.size <= MOST_NODES) return new Set(graph.nodes.keys());
  const links = new Map([...graph.nodes.keys()].map((key) => [key, []]));
  for (const [number, state] of store.visited) {
    for (const edge of state.edges.values()) {
      const [a, b] = [graph.group.get(number), graph.group.get(edge.target)];
      links.get(a).push(b);
      links.get(b).push(a);
    }
  }
  const start = graph.group.get(store.run.number(store.at));
  const kept = new Set([start]);
  const queue = [start];
  while (queue.length && kept.size < MOST_NODES) {
    for (const other of links.get(queue.shift())) {
      if (!kept.has(other) && kept.size < MOST_NODES) { kept.add(other); queue.push(other); }
    }
  }
  return kept;
}

// The layout is a text in the page until it is needed for the first time.
function loadLayout() {
  if (globalThis.dagre) return;
  const script = document.createElement('script');
  script.textContent = byId('layout').textContent;
  document.head.append(script);
}

function place(graph, kept) {
  loadLayout();
  const layout = new dagre.graphlib.Graph({ multigraph: false });
  layout.setGraph({ rankdir: 'TB', nodesep: 26, ranksep: 34, marginx: 16, marginy: 16 });
  layout.setDefaultEdgeLabel(() => ({}));
  for (const key of kept) {
    const node = graph.nodes.get(key);
    node.lines = node.chain ? [`${node.states.length} states`, `#${node.states[0]} … #${node.states[node.states.length - 1]}`] : labelOf(node.states[0]);
    const widest = node.lines.reduce((most, line) => Math.max(most, line.length), 0);
    layout.setNode(String(key), { width: Math.min(280, widest * metrics.letter + 22), height: node.lines.length * metrics.font * 1.35 + 12 });
  }
  for (const [number, state] of store.visited) {
    const from = graph.group.get(number);
    if (!kept.has(from)) continue;
    for (const edge of state.edges.values()) {
      const to = graph.group.get(edge.target);
      if (!kept.has(to) || (from === to && graph.nodes.get(from).chain)) continue;
      const known = layout.edge(String(from), String(to));
      const label = shortLabel(edge.label);
      if (known) { if (!known.labels.includes(label)) known.labels.push(label); }
      else layout.setEdge(String(from), String(to), { labels: [label], width: Math.min(190, label.length * metrics.letter), height: metrics.font, labelpos: 'r' });
    }
  }
  dagre.layout(layout);
  return layout;
}

const shortLabel = (label) => label.replace(/^(.+?)\[(\d+)\][ :]/, '$1($2) ');

function drawGraph() {
  if (!view.isConnected) return;
  drawTools();
  if (!store.visited.size) { fill(canvas, make('p', { class: 'quiet', text: 'A run of a report has no numbers of states: there is no graph.' })); return; }
  const graph = fold();
  const kept = near(graph);
  const layout = place(graph, kept);
  const { width, height } = layout.graph();
  const svg = makeSvg('svg', { width: width * zoom, height: height * zoom, viewBox: `0 0 ${width} ${height}` });
  svg.append(makeSvg('defs', {}, makeSvg('marker', { id: 'edge-tip', viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto' }, makeSvg('path', { class: 'edge-tip', d: 'M0 0L10 5L0 10z' }))));
  const here = String(graph.group.get(store.run.number(store.at)));
  for (const edge of layout.edges()) svg.append(...drawEdge(layout.edge(edge), edge));
  for (const key of layout.nodes()) svg.append(drawNode(graph, key, layout.node(key), key === here));
  fill(canvas, svg, kept.size < graph.nodes.size ? make('p', { class: 'quiet', text: `the ${kept.size} nearest of ${graph.nodes.size} are shown` }) : null);
  const at = layout.node(here);
  canvas.scrollTo({ left: at.x * zoom - canvas.clientWidth / 2, top: at.y * zoom - canvas.clientHeight / 2 });
}

function drawEdge(edge) {
  const points = edge.points.map((p) => `${p.x.toFixed(1)},${p.y.toFixed(1)}`).join(' ');
  const text = edge.labels.length > 1 ? `${edge.labels[0]} +${edge.labels.length - 1}` : edge.labels[0];
  const label = makeSvg('text', { class: 'edge-label', x: edge.x, y: edge.y + 4, 'text-anchor': 'middle', text: cut(text, 190) }, makeSvg('title', { text: edge.labels.join('\n') }));
  return [makeSvg('polyline', { class: 'edge', points, 'marker-end': 'url(#edge-tip)' }), label];
}

function drawNode(graph, key, box, isHere) {
  const node = graph.nodes.get(key.startsWith('chain') ? key : Number(key));
  const number = node.states[0];
  const state = store.visited.get(number);
  const open = !node.chain && state.open !== null && state.open !== undefined && state.open > new Set(state.edges.keys()).size;
  const kinds = ['node', isHere ? 'here' : '', node.chain ? 'chain' : '', graph.found(number) && !node.chain ? 'found' : '', state.end === 'deadlock' ? 'dead' : ''];
  const choose = () => { if (node.chain) { node.states.forEach((s) => opened.add(s)); drawGraph(); } else goToState(number); };
  const group = makeSvg('g', { class: kinds.filter(Boolean).join(' '), tabindex: '0', role: 'button', 'aria-label': node.lines.join(', '), onclick: choose, onkeydown: (e) => { if (e.key === 'Enter') { e.stopPropagation(); choose(); } } });
  const [left, top] = [box.x - box.width / 2, box.y - box.height / 2];
  group.append(makeSvg('rect', { x: left, y: top, width: box.width, height: box.height, rx: 6 }));
  node.lines.forEach((line, i) => group.append(makeSvg('text', { x: box.x, y: top + 8 + (i + 0.75) * metrics.font * 1.35, 'text-anchor': 'middle', text: cut(line, box.width - 10) })));
  if (open) group.append(makeSvg('text', { class: 'more', x: left + box.width - 6, y: top + box.height - 4, 'text-anchor': 'end', text: '…' }, makeSvg('title', { text: 'more steps are possible here' })));
  return group;
}

// Goes to a visited state: within the run if it is there, else by a shortest way through what was visited.
async function goToState(number) {
  for (let at = 0; at <= store.run.length; at += 1) if (store.run.number(at) === number) { goTo(at); return; }
  const before = new Map([[store.run.start, null]]);
  const queue = [store.run.start];
  while (queue.length && !before.has(number)) {
    const from = queue.shift();
    for (const [ordinal, edge] of store.visited.get(from).edges) {
      if (!before.has(edge.target)) { before.set(edge.target, [from, ordinal]); queue.push(edge.target); }
    }
  }
  if (!before.has(number)) return;
  const steps = [];
  for (let at = number; before.get(at); at = before.get(at)[0]) steps.unshift(before.get(at)[1]);
  const story = await ask({ ask: 'replay', initial: 0, steps, title: `to state #${number}` }).catch(() => null);
  if (story) showRun(new Run(story), steps.length);
}

function drawTools() {
  const names = store.run.state(store.at).names;
  const select = make('select', { id: 'label-with', 'aria-label': 'Label states with a variable', onchange: (e) => { if (e.target.value) { picked.add(e.target.value); drawGraph(); } } },
    make('option', { value: '', text: 'label with…' }), names.filter((n) => !picked.has(n)).map((n) => make('option', { value: n, text: n.replace(/@$/, ' (place)') })));
  const chips = [...picked].map((name) => make('button', { class: 'chip', title: 'Remove this label', text: `${name} ×`, onclick: () => { picked.delete(name); drawGraph(); } }));
  const button = (text, title, act) => make('button', { text, title, onclick: () => { act(); drawGraph(); } });
  fill(choices, select, chips, make('span', { class: 'space' }),
    button(folding ? 'unfold' : 'fold', 'Fold chains of states, or show each', () => { folding = !folding; opened.clear(); }),
    button('−', 'Smaller', () => { zoom = Math.max(0.3, zoom / 1.25); }), button('+', 'Larger', () => { zoom = Math.min(3, zoom * 1.25); }));
}

export function graphView() {
  return { node: view, shown: drawGraph };
}

export function startGraph() {
  listen('moved look', drawGraph);
  byId('find').addEventListener('input', drawGraph);
}
