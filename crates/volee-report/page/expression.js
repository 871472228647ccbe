// Expressions without an engine: the operators of Promela over the variables that the page shows. Numbers, truth values and
// symbolic names are compared as they are shown; `len(q)` counts the messages of a channel.

const TOKEN = /\s*(\d+|[A-Za-z_]\w*(?:\[\d+\])?(?::[A-Za-z_][\w.[\]]*|(?:\.[A-Za-z_]\w*)|(?:\[\d+\]))*|\|\||&&|[<>=!]=|<<|>>|[-+*/%<>!~&|^()?:])/y;
const LEVELS = [['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '<=', '>', '>='], ['<<', '>>'], ['+', '-'], ['*', '/', '%']];
const DEEPEST = 200;

function tokensOf(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) throw new Error(`column ${at + 1}: this is no expression`);
    tokens.push(found[1]);
  }
  return tokens;
}

class Reader {
  constructor(text) { this.tokens = tokensOf(text); this.next = 0; this.depth = 0; }

  peek() { return this.tokens[this.next]; }

  expect(token) {
    if (this.peek() !== token) throw new Error(`“${token}” is missing`);
    this.next += 1;
  }

  level(k) {
    if (this.depth > DEEPEST) throw new Error('this is nested too deeply');
    if (k === LEVELS.length) return this.unary();
    let left = this.level(k + 1);
    while (LEVELS[k].includes(this.peek())) {
      const op = this.tokens[this.next];
      this.next += 1;
      left = [op, left, this.level(k + 1)];
    }
    return left;
  }

  unary() {
    const token = this.peek();
    if (token === undefined) throw new Error('the expression ends too early');
    this.next += 1;
    if (token === '!' || token === '-' || token === '~') return [`u${token}`, this.unary()];
    if (token === '(') {
      this.depth += 1;
      const inner = this.level(0);
      this.expect(')');
      this.depth -= 1;
      return inner;
    }
    if (/^\d/.test(token)) return ['const', Number(token)];
    if (token === 'len') {
      this.expect('(');
      const name = this.tokens[this.next];
      this.next += 1;
      this.expect(')');
      return ['len', name];
    }
    if (/^\w/.test(token)) return ['name', token];
    throw new Error(`“${token}” is out of place`);
  }
}

export function parseExpression(text) {
  const reader = new Reader(text);
  const tree = reader.level(0);
  if (reader.peek() !== undefined) throw new Error(`“${reader.peek()}” is out of place`);
  return tree;
}

const trees = new Map();

// The value of an expression over the variables of a state; a text where it has none.
export function evaluateHere(text, state) {
  if (!trees.has(text)) trees.set(text, parseExpression(text));
  const known = new Map(state.names.map((name, i) => [name, state.values[i]]));
  return valueOf(trees.get(text), known);
}

function lookUp(name, known) {
  if (known.has(name)) {
    const value = known.get(name);
    if (value === 'true') return 1;
    if (value === 'false') return 0;
    return /^-?\d+$/.test(value) ? Number(value) : value;
  }
  if (name === 'true') return 1;
  if (name === 'false') return 0;
  return name;
}

function valueOf(tree, known) {
  const [op, a, b] = tree;
  if (op === 'const') return a;
  if (op === 'name') {
    const value = lookUp(a, known);
    return value;
  }
  if (op === 'len') {
    const inside = /^\[(.*)\]$/.exec(known.get(a) || '');
    return inside ? (inside[1] === '' ? 0 : inside[1].split(' | ').length) : `there is no channel ${a}`;
  }
  const left = valueOf(a, known);
  if (op === 'u!') return typeof left === 'number' ? Number(left === 0) : left;
  if (op === 'u-') return typeof left === 'number' ? -left | 0 : left;
  if (op === 'u~') return typeof left === 'number' ? ~left : left;
  if (op === '&&' && left === 0) return 0;
  if (op === '||' && typeof left === 'number' && left !== 0) return 1;
  const right = valueOf(b, known);
  if (op === '==') return Number(left === right);
  if (op === '!=') return Number(left !== right);
  if (typeof left !== 'number') return `${left} is not known here`;
  if (typeof right !== 'number') return `${right} is not known here`;
  switch (op) {
    case '&&': case '||': return Number(right !== 0);
    case '+': return (left + right) | 0;
    case '-': return (left - right) | 0;
    case '*': return Math.imul(left, right);
    case '/': return right === 0 ? 'division by zero' : Math.trunc(left / right);
    case '%': return right === 0 ? 'division by zero' : left % right;
    case '<': return Number(left < right);
    case '<=': return Number(left <= right);
    case '>': return Number(left > right);
    case '>=': return Number(left >= right);
    case '&': return left & right;
    case '|': return left | right;
    case '^': return left ^ right;
    case '<<': return left << right;
    default: return left >> right;
  }
}
