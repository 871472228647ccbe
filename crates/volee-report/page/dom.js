// Small helpers: finding and making elements, numbers and sizes in words.

export const byId = (id) => document.getElementById(id);

// An element with attributes (`on…` are listeners) and children (nodes or texts).
export function make(tag, attributes, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

const SVG_SPACE = 'http://www.w3.org/2000/svg';

export function makeSvg(tag, attributes, ...children) {
  return dress(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'text') node.textContent = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

export function grouped(n) {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export function plural(n, word) {
  return `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;
}

export function sized(bytes) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let k = 0;
  while (bytes >= 1024 && k + 1 < units.length) { bytes /= 1024; k += 1; }
  return `${k === 0 ? bytes : bytes.toFixed(1)} ${units[k]}`;
}

// The size of a letter, for texts that are cut to fit, and of a row of a list.
export const metrics = { letter: 7.2, row: 24, font: 12 };

export function measure() {
  metrics.font = parseFloat(getComputedStyle(document.documentElement).fontSize) || 13;
  metrics.letter = metrics.font * 0.602;
  metrics.row = Math.round(metrics.font * 1.8);
}

export function cut(text, width) {
  const most = Math.max(2, Math.floor(width / metrics.letter));
  return text.length > most ? text.slice(0, most - 1) + '…' : text;
}

// The name of a process cut to fit, with its number.
export function cutName(name, width) {
  const most = Math.max(5, Math.floor(width / metrics.letter));
  const found = /^(.*)(\(\d+\))$/.exec(name);
  if (!found || name.length <= most) return cut(name, width);
  return `${found[1].slice(0, Math.max(1, most - found[2].length - 1))}…${found[2]}`;
}

let noticeTimer = 0;

// A sentence for the user, for a while; `kind` is '' or 'bad'.
export function notify(text, kind) {
  const box = byId('notice');
  box.textContent = text;
  box.className = kind || '';
  box.hidden = !text;
  clearTimeout(noticeTimer);
  if (text) noticeTimer = setTimeout(() => { box.hidden = true; }, kind === 'bad' ? 9000 : 4000);
}
