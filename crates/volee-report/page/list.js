// A list of any length of which only the rows in sight exist: rows of one height, drawn by a function, chosen by click or
// by the arrow keys.
//
// Asking an element for its size or its scroll position after a change makes the browser lay the page out at once. So both are
// remembered, and a row that would look as it does stays where it is.

import { make, metrics, fill } from './dom.js';

const MARGIN = 6;

export class List {
  // `draw(index)` makes a row; `choose(index)` is called for the one that is clicked or entered.
  constructor(label, draw, choose) {
    this.draw = draw;
    this.choose = choose;
    this.count = 0;
    this.current = -1;
    this.top = 0;
    this.height = 0;
    this.drawn = { first: 0, rows: [] };
    this.rows = make('div', { class: 'rows' });
    this.node = make('div', { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': label }, this.rows);
    this.node.addEventListener('scroll', () => this.scrolled());
    this.node.addEventListener('click', (event) => this.clicked(event));
    this.node.addEventListener('keydown', (event) => this.keyed(event));
    new ResizeObserver((seen) => { this.height = seen[0].contentRect.height; this.bring(this.sought); this.paint(); }).observe(this.node);
  }

  // A new length, and which row is current and which one must be in sight, where that is told.
  update(count, current, sought) {
    if (count !== this.count) this.rows.style.height = `${count * metrics.row}px`;
    this.count = count;
    if (current !== undefined) this.current = current;
    this.bring(sought);
    this.paint();
  }

  show(index) {
    this.current = index;
    this.bring(index);
    this.paint();
  }

  // Scrolls a row into sight; without a size, as soon as there is one.
  bring(index) {
    this.sought = this.height ? undefined : index;
    if (index === undefined || index < 0 || !this.height) return;
    const top = index * metrics.row;
    if (top < this.top + metrics.row || top > this.top + this.height - 2 * metrics.row) this.scroll(top - this.height / 2);
  }

  scroll(wanted) {
    const to = Math.max(0, Math.min(wanted, this.count * metrics.row - this.height));
    if (to === this.top) return;
    this.top = to;
    this.node.scrollTop = to;
  }

  scrolled() {
    // What was scrolled from here is painted already.
    const to = this.node.scrollTop;
    if (Math.abs(to - this.top) < 1) return;
    this.top = to;
    this.paint();
  }

  row(index) {
    const row = this.draw(index);
    row.classList.add('row');
    row.dataset.index = index;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(index === this.current));
    row.style.top = `${index * metrics.row}px`;
    row.style.height = `${metrics.row}px`;
    return row;
  }

  paint() {
    const first = Math.max(0, Math.floor(this.top / metrics.row) - MARGIN);
    const last = Math.min(this.count, Math.ceil((this.top + this.height) / metrics.row) + MARGIN);
    const before = this.drawn;
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const row = this.row(index);
      const old = before.rows[index - before.first];
      rows.push(old && old.isEqualNode(row) ? old : row);
    }
    const sameRange = first === before.first && rows.length === before.rows.length;
    if (sameRange) rows.forEach((row, i) => { if (row !== before.rows[i]) before.rows[i].replaceWith(row); });
    else fill(this.rows, rows);
    this.drawn = { first, rows };
  }

  clicked(event) {
    const row = event.target.closest('.row');
    if (row) this.choose(Number(row.dataset.index));
  }

  keyed(event) {
    const page = Math.max(1, Math.floor(this.height / metrics.row) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const to = Math.max(0, Math.min(this.count - 1, this.current + by));
    if (this.count) { this.choose(to); this.show(to); }
  }
}
