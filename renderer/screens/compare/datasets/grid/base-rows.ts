import { type Dataset, readDatasetRows, type RowValues } from '../../../../../shared/contract/datasets.ts';
import type { Client } from '../../../../host/client.ts';

const rowsAtOnce = 100;
/** A page that ended early has 4 MB, others are guessed to have a fifth of it. */
const largePage = 5;
/** About 80 MB. */
const maxWeight = 100;
const pauseMilliseconds = 60;

interface Page {
  readonly offset: number;
  readonly count: number;
  readonly weight: number;
}

interface RowListener {
  readonly onRows: () => void;
  readonly onError: (error: unknown) => void;
}

/** Rows of the base version, read on demand. Rows that were not shown for the longest time are dropped. */
export class BaseRows {
  readonly #rows = new Map<number, RowValues>();
  #pages: Page[] = [];
  readonly #reading = new Set<number>();
  #needed: { from: number; to: number } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #closing = new AbortController();

  readonly #client: Client;
  readonly #dataset: Dataset;
  readonly #listener: RowListener;

  constructor(client: Client, dataset: Dataset, listener: RowListener) {
    this.#client = client;
    this.#dataset = dataset;
    this.#listener = listener;
  }

  get(offset: number): RowValues | undefined {
    return this.#rows.get(offset);
  }

  /** Reads a range that is in view, once scrolling pauses. */
  want(from: number, to: number): void {
    this.#needed = { from, to };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#readNeeded(), this.#rows.size === 0 ? 0 : pauseMilliseconds);
  }

  async #readNeeded(): Promise<void> {
    const needed = this.#needed;
    if (needed === null) return;
    const last = Math.min(needed.to, this.#dataset.rowCount);
    for (let offset = needed.from; offset < last; offset += 1) {
      if (this.#rows.has(offset) || this.#reading.has(offset)) continue;
      await this.#readPage(offset, last);
      // Scrolled on: what was in view isn't needed any more.
      if (this.#needed !== needed) return;
    }
  }

  async #readPage(offset: number, to: number): Promise<void> {
    let limit = Math.max(1, Math.min(rowsAtOnce, Math.max(to - offset, rowsAtOnce)));
    while (limit > 1 && this.#rows.has(offset + limit - 1)) limit -= 1;
    const offsets = Array.from({ length: limit }, (_, index) => offset + index);
    for (const one of offsets) this.#reading.add(one);
    try {
      const rows = await this.#read(offset, limit, this.#closing.signal);
      this.#keep(offset, rows, rows.length < Math.min(limit, this.#dataset.rowCount - offset));
      this.#listener.onRows();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#listener.onError(error);
    } finally {
      for (const one of offsets) this.#reading.delete(one);
    }
  }

  #keep(offset: number, rows: readonly RowValues[], isLarge: boolean): void {
    rows.forEach((values, index) => this.#rows.set(offset + index, values));
    this.#pages.push({ offset, count: rows.length, weight: isLarge ? largePage : 1 });
    let weight = this.#pages.reduce((sum, page) => sum + page.weight, 0);
    while (weight > maxWeight && this.#pages.length > 2) {
      const dropped = this.#pages.shift()!;
      weight -= dropped.weight;
      for (let index = 0; index < dropped.count; index += 1) this.#rows.delete(dropped.offset + index);
    }
  }

  async #read(offset: number, limit: number, signal: AbortSignal): Promise<RowValues[]> {
    const query = { version: this.#dataset.version, offset, limit };
    const { data } = await this.#client.call(readDatasetRows, { signal, parameters: { id: this.#dataset.id }, query });
    return data.map(({ values }) => values);
  }

  /** Reads rows without keeping them, for work on many of them. Up to `limit`, fewer if they are large. */
  async read(offset: number, limit: number, signal: AbortSignal): Promise<RowValues[]> {
    const known: RowValues[] = [];
    while (known.length < limit && this.#rows.has(offset + known.length))
      known.push(this.#rows.get(offset + known.length)!);
    return known.length > 0 ? known : this.#read(offset, Math.min(1000, limit), signal);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closing.abort();
  }
}
