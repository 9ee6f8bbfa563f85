/** Random texts of a grammar in GBNF, as far as `schemaGrammar` writes it: a judge beside llama.cpp that needs no model. */

type Element =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'characters';
      readonly isNegated: boolean;
      readonly ranges: readonly (readonly [number, number])[];
    }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'options'; readonly options: readonly Item[][] };
interface Item {
  readonly element: Element;
  readonly min: number;
  readonly max: number;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

class Parser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  rule(): readonly Item[][] {
    const options = this.#options();
    if (this.#position < this.#text.length)
      throw new Error(`Unexpected ${this.#text.slice(this.#position, this.#position + 20)}`);
    return options;
  }

  #options(): Item[][] {
    const options: Item[][] = [[]];
    for (;;) {
      while (this.#text[this.#position] === ' ') this.#position += 1;
      const character = this.#text[this.#position];
      if (character === undefined || character === ')') return options;
      if (character === '|') {
        this.#position += 1;
        options.push([]);
      } else options.at(-1)!.push(this.#item());
    }
  }

  #item(): Item {
    const element = this.#element();
    const match = /^(?:[*?]|\{(\d+)(,?)(\d*)\})/.exec(this.#text.slice(this.#position, this.#position + 20));
    if (!match) return { element, min: 1, max: 1 };
    this.#position += match[0].length;
    if (match[0] === '*') return { element, min: 0, max: 3 };
    if (match[0] === '?') return { element, min: 0, max: 1 };
    const min = Number(match[1]);
    if (match[2] === '') return { element, min, max: min };
    return { element, min, max: Math.min(match[3] === '' ? min + 3 : Number(match[3]), min + 30) };
  }

  #element(): Element {
    const character = this.#text[this.#position];
    if (character === '"') return { kind: 'text', text: this.#quoted() };
    if (character === '[') return this.#characters();
    if (character === '(') {
      this.#position += 1;
      const options = this.#options();
      this.#position += 1;
      return { kind: 'options', options };
    }
    const name = /^\w+/.exec(this.#text.slice(this.#position, this.#position + 40))?.[0];
    if (name === undefined) throw new Error(`Unexpected ${this.#text.slice(this.#position, this.#position + 20)}`);
    this.#position += name.length;
    return { kind: 'rule', name };
  }

  #character(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#position)!);
    this.#position += character.length;
    if (character !== '\\') return character;
    const escape = this.#text[this.#position]!;
    this.#position += 1;
    if (escape !== 'x') return escapes[escape] ?? escape;
    this.#position += 2;
    return String.fromCodePoint(Number.parseInt(this.#text.slice(this.#position - 2, this.#position), 16));
  }

  #quoted(): string {
    let text = '';
    this.#position += 1;
    while (this.#text[this.#position] !== '"') text += this.#character();
    this.#position += 1;
    return text;
  }

  #characters(): Element {
    this.#position += 1;
    const isNegated = this.#text[this.#position] === '^';
    if (isNegated) this.#position += 1;
    const ranges: (readonly [number, number])[] = [];
    while (this.#text[this.#position] !== ']') {
      const from = this.#character().codePointAt(0)!;
      const isRange = this.#text[this.#position] === '-' && this.#text[this.#position + 1] !== ']';
      if (isRange) this.#position += 1;
      ranges.push([from, isRange ? this.#character().codePointAt(0)! : from]);
    }
    this.#position += 1;
    return { kind: 'characters', isNegated, ranges };
  }
}

/** Numbers from 0 up to 1, the same for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

const fewCharacters = ['a', 'Z', '7', ' ', '.', 'é', '漢', '😀', '\u2028', '-'];

/** Returns a function that writes a random text of the grammar's rule `root`. */
export function grammarSampler(grammar: string, random: () => number, size = 200): () => string {
  const rules = new Map<string, readonly Item[][]>();
  for (const line of grammar.split('\n')) {
    const [, name = '', body = ''] = /^(\w+) ::= (.*)$/su.exec(line)!;
    rules.set(name, new Parser(body).rule());
  }
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  let budget = 0;

  function write(element: Element): string {
    if (element.kind === 'text') return element.text;
    if (element.kind === 'characters') {
      const { ranges, isNegated } = element;
      const isInside = (character: string) =>
        ranges.some(([from, to]) => from <= character.codePointAt(0)! && character.codePointAt(0)! <= to);
      if (isNegated) return pick(fewCharacters.filter((character) => !isInside(character)));
      const [from, to] = pick(ranges);
      return String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
    }
    const options = element.kind === 'rule' ? rules.get(element.name) : element.options;
    if (!options) throw new Error(`There is no rule ${(element as { name: string }).name}`);
    budget -= 1;
    // Recursive rules end: without a budget, the last option and the fewest repetitions are taken.
    return (budget > 0 ? pick(options) : options.at(-1)!).map(repeat).join('');
  }

  function repeat({ element, min, max }: Item): string {
    const count = budget > 0 ? min + Math.floor(random() * (max - min + 1)) : min;
    let text = '';
    for (let index = 0; index < count; index += 1) text += write(element);
    return text;
  }

  return () => {
    budget = size;
    return write({ kind: 'rule', name: 'root' });
  };
}
