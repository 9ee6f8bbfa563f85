import type { SourceEntry } from './passage-store.ts';

/** The readings of sources that were not removed, by their numbers and by their sources. */
export class SourceEntries {
  readonly #entries = new Map<number, SourceEntry>();
  readonly #ofSource = new Map<string, readonly SourceEntry[]>();

  get(number: number): SourceEntry | undefined {
    return this.#entries.get(number);
  }

  all(): Iterable<SourceEntry> {
    return this.#entries.values();
  }

  /** The finished reading of a source, and one that is being written. */
  ofSource(sourceId: string): readonly SourceEntry[] {
    return this.#ofSource.get(sourceId) ?? [];
  }

  /** Adds an entry, or puts it in the place of the one with its number. */
  set(entry: SourceEntry): void {
    const others = this.ofSource(entry.sourceId).filter(({ number }) => number !== entry.number);
    this.#entries.set(entry.number, entry);
    this.#ofSource.set(entry.sourceId, [...others, entry]);
  }

  delete({ number, sourceId }: SourceEntry): void {
    const others = this.ofSource(sourceId).filter((other) => other.number !== number);
    this.#entries.delete(number);
    if (others.length === 0) this.#ofSource.delete(sourceId);
    else this.#ofSource.set(sourceId, others);
  }
}
