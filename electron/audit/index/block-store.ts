import { type Bits, bitsOf, blockRuns, blockShift, decodePositions, encodePositions, offsetOf } from './bits.ts';
import { forEachTerm, type IndexedRun, type NumberField, numberFields, type Terms } from './terms.ts';
import type { Timeline } from '../query/timeline.ts';
import type Database from 'better-sqlite3';

/** Numbers of a block's runs by offset; NaN for runs without the number and for missing runs. */
export type Numbers = Float64Array;

/** A block in memory that still changes, because it isn't full or some of its runs haven't ended. */
export class OpenBlock {
  readonly postings = new Map<number, number[]>();
  readonly numbers: Record<NumberField, Numbers>;
  readonly #terms: Terms;
  /** The codes under which a run is listed, for runs that haven't ended and will be listed again. */
  readonly #codesOfRunning = new Map<number, number[]>();

  constructor(terms: Terms, numbers: Record<NumberField, Numbers>) {
    this.#terms = terms;
    this.numbers = numbers;
    for (const field of numberFields) numbers[field].fill(Number.NaN);
  }

  get runningRuns(): readonly number[] {
    return [...this.#codesOfRunning.keys()];
  }

  /** Lists a run, or lists it again after it ended. */
  put(run: IndexedRun): void {
    const offset = offsetOf(run.sequence);
    this.#forget(run.sequence, offset);
    const codes: number[] = [];
    forEachTerm(run, (field, value) => codes.push(this.#terms.make(field, value)));
    for (const code of codes) this.#list(code, offset);
    for (const field of numberFields) this.numbers[field][offset] = run[field] ?? Number.NaN;
    if (run.status === 'Running') this.#codesOfRunning.set(run.sequence, codes);
  }

  #list(code: number, offset: number): void {
    const offsets = this.postings.get(code);
    if (offsets === undefined) this.postings.set(code, [offset]);
    else offsets.push(offset);
  }

  #forget(run: number, offset: number): void {
    const codes = this.#codesOfRunning.get(run);
    if (codes === undefined) return;
    this.#codesOfRunning.delete(run);
    for (const code of codes) {
      const offsets = this.postings.get(code)!;
      offsets.splice(offsets.lastIndexOf(offset), 1);
    }
  }
}

function emptyNumbers(): Record<NumberField, Numbers> {
  const entries = numberFields.map((field) => [field, new Float64Array(blockRuns)]);
  return Object.fromEntries(entries) as Record<NumberField, Numbers>;
}

/** A cache of the last used values, up to a number of bytes. */
class ByteCache<Key, Value> {
  readonly #entries = new Map<Key, { value: Value; bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value, bytes: number): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}

const maxCachedBytes = 128 * 1_048_576;

/** Smallest and largest number of a block; null if no run has one. */
export interface Zone {
  readonly min: number | null;
  readonly max: number | null;
}

type ZonedField = NumberField | 'created_at';
type ColumnField = ZonedField | 'conversation';

const zonedFields: readonly ZonedField[] = [...numberFields, 'created_at'];

/** The blocks of all runs: sealed ones on disk, which are read when needed, and open ones in memory. */
export class BlockStore {
  readonly open = new Map<number, OpenBlock>();
  /** Grows with every change of any block. */
  changes = 0;
  readonly #sealed: Set<number>;
  readonly #versions = new Map<number, number>();
  readonly #database: Database.Database;
  readonly #terms: Terms;
  readonly #timeline: Timeline;
  readonly #postings = new ByteCache<number, Bits | null>(maxCachedBytes);
  readonly #numbers = new ByteCache<string, Numbers>(maxCachedBytes);
  readonly #zones: Record<ZonedField, Map<number, Zone>>;
  readonly #statements: ReturnType<typeof blockStatements>;
  /** Of sealed blocks. New ones for each block are 0.7 MB that waits for a collection of the whole heap. */
  readonly #spareNumbers: Record<NumberField, Numbers>[] = [];

  constructor(database: Database.Database, terms: Terms, timeline: Timeline) {
    this.#database = database;
    this.#terms = terms;
    this.#timeline = timeline;
    this.#statements = blockStatements(database);
    this.#sealed = new Set(this.#statements.sealed.all());
    this.#zones = Object.fromEntries(
      zonedFields.map((field) => [
        field,
        new Map(this.#statements.zones.all(field).map(({ block, min, max }) => [block, { min, max }])),
      ]),
    ) as Record<ZonedField, Map<number, Zone>>;
  }

  isSealed(block: number): boolean {
    return this.#sealed.has(block);
  }

  /** Grows with every change of the block. */
  version(block: number): number {
    return this.#versions.get(block) ?? 0;
  }

  touch(block: number): void {
    this.changes += 1;
    this.#versions.set(block, this.version(block) + 1);
  }

  openBlock(block: number): OpenBlock {
    this.touch(block);
    const present = this.open.get(block);
    if (present) return present;
    const made = new OpenBlock(this.#terms, this.#spareNumbers.pop() ?? emptyNumbers());
    this.open.set(block, made);
    return made;
  }

  /** The runs of a block that have a value; null for none. */
  posting(code: number, block: number): Bits | null {
    const open = this.open.get(block);
    if (open) {
      const offsets = open.postings.get(code);
      return offsets === undefined ? null : bitsOf(offsets);
    }
    const key = code * 2 ** (31 - blockShift) + block;
    const cached = this.#postings.get(key);
    if (cached !== undefined) return cached;
    const bytes = this.#statements.posting.get(block, code);
    const bits = bytes === undefined ? null : decodePositions(bytes);
    this.#postings.set(key, bits, bits === null ? 64 : bits.byteLength);
    return bits;
  }

  /** Null while the block changes. */
  zone(field: ZonedField, block: number): Zone | null {
    return this.open.has(block) ? null : (this.#zones[field].get(block) ?? { min: null, max: null });
  }

  /** Callers must not change the result, and it is only valid until the index follows new runs. */
  numbers(field: NumberField, block: number): Numbers {
    const open = this.open.get(block);
    if (open) return open.numbers[field];
    const key = `${field}:${block}`;
    const cached = this.#numbers.get(key);
    if (cached) return cached;
    const numbers = this.#readColumn(field, block);
    this.#numbers.set(key, numbers, numbers.byteLength);
    return numbers;
  }

  /** Adds the runs of a sealed block to the timeline. */
  replay(block: number): void {
    const createdAt = this.#readColumn('created_at', block);
    const conversation = this.#readColumn('conversation', block);
    for (let offset = 0; offset < blockRuns; offset += 1) {
      const time = createdAt[offset]!;
      if (!Number.isNaN(time)) this.#timeline.append(block * blockRuns + offset, conversation[offset]!, time);
    }
  }

  /** Writes a block whose runs have all ended, and removes it from memory. Call it in a transaction. */
  seal(block: number): void {
    const open = this.open.get(block)!;
    this.#terms.save();
    this.#statements.insertBlock.run(block);
    for (const [term, offsets] of open.postings) {
      if (offsets.length > 0) this.#statements.insertPosting.run(block, term, encodePositions(offsets));
    }
    for (const field of numberFields) this.#writeColumn(field, block, open.numbers[field]);
    const first = block * blockRuns;
    const { createdAt, conversation } = this.#timeline;
    const times = Float64Array.from(createdAt.subarray(first, first + blockRuns), (time) => time || Number.NaN);
    this.#writeColumn('created_at', block, times);
    this.#writeColumn('conversation', block, Float64Array.from(conversation.subarray(first, first + blockRuns)));
    this.#sealed.add(block);
    this.open.delete(block);
    this.#spareNumbers.push(open.numbers);
  }

  /** Drops a sealed block, so that it is rebuilt from its runs. Call it in a transaction. */
  unseal(block: number): void {
    this.#statements.deletePostings.run(block);
    this.#statements.deleteColumns.run(block);
    this.#statements.deleteBlock.run(block);
    this.#sealed.delete(block);
    this.open.delete(block);
    this.#postings.clear();
    this.#numbers.clear();
    this.touch(block);
  }

  transaction(work: () => void): void {
    this.#database.transaction(work)();
  }

  #readColumn(field: ColumnField, block: number): Numbers {
    return new Float64Array(new Uint8Array(this.#statements.column.get(field, block)!).buffer);
  }

  #writeColumn(field: ColumnField, block: number, numbers: Numbers): void {
    let min: number | null = null;
    let max: number | null = null;
    for (const number of numbers) {
      if (Number.isNaN(number)) continue;
      if (min === null || number < min) min = number;
      if (max === null || number > max) max = number;
    }
    if (field !== 'conversation') this.#zones[field].set(block, { min, max });
    this.#statements.insertColumn.run(field, block, min, max, new Uint8Array(numbers.buffer));
  }
}

function blockStatements(database: Database.Database) {
  return {
    sealed: database.prepare<[], number>('SELECT block FROM blocks').pluck(),
    zones: database.prepare<[string], Zone & { block: number }>(
      'SELECT block, least AS min, most AS max FROM columns WHERE field = ?',
    ),
    posting: database
      .prepare<[number, number], Uint8Array>('SELECT places FROM postings WHERE block = ? AND term = ?')
      .pluck(),
    column: database
      .prepare<[string, number], Uint8Array>('SELECT numbers FROM columns WHERE field = ? AND block = ?')
      .pluck(),
    insertBlock: database.prepare('INSERT INTO blocks (block) VALUES (?)'),
    insertPosting: database.prepare('INSERT INTO postings (block, term, places) VALUES (?, ?, ?)'),
    insertColumn: database.prepare('INSERT INTO columns (field, block, least, most, numbers) VALUES (?, ?, ?, ?, ?)'),
    deletePostings: database.prepare('DELETE FROM postings WHERE block = ?'),
    deleteColumns: database.prepare('DELETE FROM columns WHERE block = ?'),
    deleteBlock: database.prepare('DELETE FROM blocks WHERE block = ?'),
  };
}
