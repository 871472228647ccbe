// A list of any length of which only the rows in sight exist: rows of one height, drawn by a function, chosen by click or
// by the arrow keys.

import { make, metrics, fill } from './dom.js';

const MARGIN = 6;

export class List {
  // `draw(index)` makes a row; `choose(index)` is called for the one that is clicked or entered.
  constructor(label, draw, choose) {
    this.draw = draw;
    this.choose = choose;
    this.count = 0;
    this.current = -1;
    this.rows = make('div', { class: 'rows' });
    this.node = make('div', { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': label }, this.rows);
    this.node.addEventListener('scroll', () => this.paint());
    this.node.addEventListener('click', (event) => this.clicked(event));
    this.node.addEventListener('keydown', (event) => this.keyed(event));
    new ResizeObserver(() => this.paint()).observe(this.node);
  }

  // A new length; rows are drawn anew.
  update(count, current) {
    this.count = count;
    if (current !== undefined) this.current = current;
    this.rows.style.height = `${count * metrics.row}px`;
    this.paint();
  }

  show(index) {
    this.current = index;
    const top = index * metrics.row;
    const { scrollTop, clientHeight } = this.node;
    if (top < scrollTop + metrics.row || top > scrollTop + clientHeight - 2 * metrics.row) {
      this.node.scrollTop = top - clientHeight / 2;
    }
    this.paint();
  }

  paint() {
    const first = Math.max(0, Math.floor(this.node.scrollTop / metrics.row) - MARGIN);
    const last = Math.min(this.count, Math.ceil((this.node.scrollTop + this.node.clientHeight) / metrics.row) + MARGIN);
    const drawn = [];
    for (let index = first; index < last; index += 1) {
      const row = this.draw(index);
      row.classList.add('row');
      row.dataset.index = index;
      row.setAttribute('role', 'option');
      row.setAttribute('aria-selected', String(index === this.current));
      row.style.top = `${index * metrics.row}px`;
      row.style.height = `${metrics.row}px`;
      drawn.push(row);
    }
    fill(this.rows, drawn);
  }

  clicked(event) {
    const row = event.target.closest('.row');
    if (row) this.choose(Number(row.dataset.index));
  }

  keyed(event) {
    const page = Math.max(1, Math.floor(this.node.clientHeight / metrics.row) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const to = Math.max(0, Math.min(this.count - 1, this.current + by));
    if (this.count) { this.choose(to); this.show(to); }
  }
}
