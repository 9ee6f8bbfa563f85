import { pointerKeys } from '../../../shared/json-schema.ts';

export type JsonKind = 'object' | 'list' | 'text' | 'number' | 'word';

/** A value of a JSON text as offsets: a text of 4 MB has 100,000 values, and only the ones in view are read. */
export interface JsonNode {
  readonly kind: JsonKind;
  readonly parent: number;
  readonly depth: number;
  /** Offsets of its key with the quotes; null in a list and for the root. */
  readonly key: readonly [start: number, end: number] | null;
  /** Its index among the values of its parent. */
  readonly index: number;
  readonly start: number;
  /** Offset of its end; null while it grows. */
  end: number | null;
  /** The number of its values so far. */
  count: number;
  /** Index of the node after its last descendant; null while it grows. */
  next: number | null;
}

export interface JsonFault {
  /** The end of a sentence that begins with "The answer". */
  readonly reason: string;
  readonly offset: number;
}

const maxNodes = 250_000;
/** Deeper values would be indented beyond any window. */
const maxDepth = 500;

const escapeCharacters = new Set('"\\/bfnrtu');
const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const numberCharacters = new Set('0123456789+-.eE');
const words = new Set(['true', 'false', 'null']);

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/**
 * Parses a growing JSON text once into a list of its values, in order. Each call continues where the last one stopped. It repairs
 * nothing: the text is valid so far or has a fault. It doesn't recurse, and it doesn't read the last string again as it grows.
 */
export class JsonOutline {
  readonly nodes: JsonNode[] = [];
  text = '';
  fault: JsonFault | null = null;
  /** Whether no more text can follow. */
  isEnded = false;
  #position = 0;
  /** The open container; -1 for none. */
  #open = -1;
  #expected: Expected = 'value';
  #key: readonly [number, number] | null = null;
  /** Start of a string whose end hasn't arrived. */
  #stringStart: number | null = null;

  get isComplete(): boolean {
    return this.#expected === 'nothing' && this.fault === null;
  }

  /** Reads the text that was added. `isEnd` means that no more follows. */
  read(text: string, isEnd: boolean): void {
    this.text = text;
    this.isEnded = isEnd;
    while (this.fault === null && this.#position < text.length && this.#step(isEnd));
    if (isEnd && this.fault === null && !this.isComplete) this.#fail('ends before its JSON does', text.length);
  }

  #fail(reason: string, offset = this.#position): boolean {
    this.fault = { reason, offset };
    return false;
  }

  /** Reads one token; false when its end hasn't arrived. */
  #step(isEnd: boolean): boolean {
    if (this.#stringStart !== null) return this.#string(this.#stringStart);
    const character = this.text[this.#position]!;
    if (character === ' ' || character === '\n' || character === '\r' || character === '\t') {
      this.#position += 1;
      return true;
    }
    if (this.#expected === 'nothing') return this.#fail('has text after its JSON');
    if (character === '"') return this.#beginString();
    if (character === '{' || character === '[') return this.#begin(character === '{' ? 'object' : 'list');
    if (character === '}' || character === ']') return this.#close(character);
    if (character === ':' || character === ',') return this.#punctuation(character);
    return this.#plain(isEnd);
  }

  #isValueExpected(): boolean {
    return this.#expected === 'value' || this.#expected === 'value or end';
  }

  #addNode(kind: JsonKind, start: number): JsonNode | null {
    const parent = this.nodes[this.#open];
    const depth = parent ? parent.depth + 1 : 0;
    if (this.nodes.length >= maxNodes) {
      this.#fail(`has more than ${maxNodes.toLocaleString('en')} values`);
      return null;
    }
    if (depth > maxDepth) {
      this.#fail(`is nested deeper than ${maxDepth} levels`);
      return null;
    }
    const node: JsonNode = {
      kind,
      parent: this.#open,
      depth,
      key: this.#key,
      index: parent ? parent.count : 0,
      start,
      end: null,
      count: 0,
      next: null,
    };
    if (parent) parent.count += 1;
    this.#key = null;
    this.nodes.push(node);
    return node;
  }

  #finish(node: JsonNode, end: number): void {
    node.end = end;
    node.next = this.nodes.length;
    this.#position = end;
    this.#expected = this.#open === -1 ? 'nothing' : 'comma or end';
  }

  #begin(kind: 'object' | 'list'): boolean {
    if (!this.#isValueExpected()) return this.#unexpected();
    if (!this.#addNode(kind, this.#position)) return false;
    this.#open = this.nodes.length - 1;
    this.#expected = kind === 'object' ? 'key or end' : 'value or end';
    this.#position += 1;
    return true;
  }

  #close(character: '}' | ']'): boolean {
    const node = this.nodes[this.#open];
    const isEndExpected = this.#expected.endsWith('or end');
    if (!node || !isEndExpected || (node.kind === 'object') !== (character === '}')) return this.#unexpected();
    this.#open = node.parent;
    this.#finish(node, this.#position + 1);
    return true;
  }

  #punctuation(character: ':' | ','): boolean {
    if (character === ':' && this.#expected === 'colon') this.#expected = 'value';
    else if (character === ',' && this.#expected === 'comma or end') {
      this.#expected = this.nodes[this.#open]!.kind === 'object' ? 'key' : 'value';
    } else return this.#unexpected();
    this.#position += 1;
    return true;
  }

  #beginString(): boolean {
    const isKey = this.#expected === 'key' || this.#expected === 'key or end';
    if (!isKey && !this.#isValueExpected()) return this.#unexpected();
    if (!isKey && !this.#addNode('text', this.#position)) return false;
    this.#stringStart = this.#position;
    this.#position += 1;
    return true;
  }

  #string(start: number): boolean {
    const { text } = this;
    while (this.#position < text.length) {
      const code = text.charCodeAt(this.#position);
      if (code === 34) return this.#endString(start);
      if (code < 32) return this.#fail('has a line break or another control character in a string');
      if (code !== 92) this.#position += 1;
      else {
        const escape = text[this.#position + 1];
        if (escape === undefined) return false;
        if (!escapeCharacters.has(escape)) return this.#fail('has an unknown escape in a string');
        const length = escape === 'u' ? 6 : 2;
        if (this.#position + length > text.length) return false;
        if (escape === 'u' && !/^[\da-f]{4}$/i.test(text.slice(this.#position + 2, this.#position + 6))) {
          return this.#fail('has an unknown escape in a string');
        }
        this.#position += length;
      }
    }
    return false;
  }

  #endString(start: number): boolean {
    const end = this.#position + 1;
    this.#stringStart = null;
    const last = this.nodes.at(-1);
    if (this.#isValueExpected() && last) this.#finish(last, end);
    else {
      this.#key = [start, end];
      this.#expected = 'colon';
      this.#position = end;
    }
    return true;
  }

  /** A number, `true`, `false` or `null`. The character after it ends it. */
  #plain(isEnd: boolean): boolean {
    if (!this.#isValueExpected()) return this.#unexpected();
    const { text } = this;
    const start = this.#position;
    let end = start;
    const isNumber = numberCharacters.has(text[start]!) && text[start] !== 'e' && text[start] !== 'E';
    while (end < text.length && end - start < 1000) {
      const character = text[end]!;
      if (isNumber ? !numberCharacters.has(character) : character < 'a' || character > 'z') break;
      end += 1;
    }
    if (end === start) return this.#unexpected();
    if (end === text.length && !isEnd) return false;
    const plain = text.slice(start, end);
    if (isNumber ? !numberPattern.test(plain) : !words.has(plain)) return this.#unexpected();
    const node = this.#addNode(isNumber ? 'number' : 'word', start);
    if (!node) return false;
    this.#finish(node, end);
    return true;
  }

  #unexpected(): boolean {
    return this.#fail('is not valid JSON');
  }
}

/** The nodes to show, in order, without those inside a collapsed one. */
function visibleNodes(nodes: readonly JsonNode[], closed: ReadonlySet<number>): number[] {
  const visible: number[] = [];
  for (let index = 0; index < nodes.length;) {
    visible.push(index);
    index = closed.has(index) ? (nodes[index]!.next ?? nodes.length) : index + 1;
  }
  return visible;
}

/** The rows of a tree. A list of 200,000 nodes must not be made again with each part that arrives. */
export interface VisibleRows {
  readonly count: number;
  /** The index of the node in a row. */
  nodeAt(row: number): number;
  /** -1 for a node inside a collapsed one. */
  rowOf(node: number): number;
}

/** Of the first `length` nodes. */
export function visibleRows(all: readonly JsonNode[], length: number, closed: ReadonlySet<number>): VisibleRows {
  if (closed.size === 0)
    return { count: length, nodeAt: (row) => row, rowOf: (node) => (node >= 0 && node < length ? node : -1) };
  const nodes = visibleNodes(all, closed);
  return { count: nodes.length, nodeAt: (row) => nodes[row]!, rowOf: (node) => nodes.indexOf(node) };
}

/** The decoded string between two offsets. A growing one has no closing quote. */
export function readString(text: string, start: number, end: number | null): string {
  const raw = text.slice(start + 1, end === null ? undefined : end - 1);
  if (!raw.includes('\\')) return raw;
  // The last escape of a growing or shortened string may be incomplete.
  for (const cut of [raw, raw.replace(/\\(u[\da-f]{0,3})?$/i, '')]) {
    try {
      return JSON.parse(`"${cut}"`) as string;
    } catch {
      // Try a shorter text, or return the raw one.
    }
  }
  return raw;
}

/** The key of a node: a property's name, or its index in a list. */
export function keyOf({ text, nodes }: JsonOutline, node: JsonNode): string | null {
  if (node.key) return readString(text, ...node.key);
  return nodes[node.parent]?.kind === 'list' ? String(node.index) : null;
}

/** The node at a JSON pointer, or its innermost existing ancestor. */
export function nodeAt(outline: JsonOutline, pointer: string): number {
  const { nodes } = outline;
  let found = 0;
  for (const key of pointerKeys(pointer)) {
    const end = nodes[found]?.next ?? nodes.length;
    let last: number | null = null;
    // Of properties with the same name the last one counts.
    for (let child = found + 1; child < end; child = nodes[child]!.next ?? nodes.length)
      if (keyOf(outline, nodes[child]!) === key) last = child;
    if (last === null) return found;
    found = last;
  }
  return found;
}
