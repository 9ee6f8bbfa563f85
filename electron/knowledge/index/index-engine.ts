import {
  createPassageStore,
  openIndexDatabase,
  type PassageStore,
  plainPassage,
  type SourceEntry,
} from './passage-store.ts';
import type {
  IndexedPassage,
  IndexedSource,
  IndexHit,
  IndexQuery,
  PassageBatch,
  SourceRevision,
} from './knowledge-index.ts';
import { searchPassages, type SearchScope } from './search-passages.ts';
import { quantize, Slots, VectorStore } from './vector-store.ts';
import { WordSearch } from './word-search.ts';

/** The revisions of sources that were not removed, by number and by source. */
class SourceEntries {
  readonly #entries = new Map<number, SourceEntry>();
  readonly #ofSource = new Map<string, readonly SourceEntry[]>();

  get(number: number): SourceEntry | undefined {
    return this.#entries.get(number);
  }

  all(): Iterable<SourceEntry> {
    return this.#entries.values();
  }

  /** The finished revision of a source, and an unfinished one. */
  ofSource(sourceId: string): readonly SourceEntry[] {
    return this.#ofSource.get(sourceId) ?? [];
  }

  /** Adds an entry, or replaces the one with its number. */
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

function vectorsKey(model: string, { length }: ArrayLike<number>): string {
  return `${model}/${length}`;
}

/** Passages of a removed source that are deleted per step, between queries. */
const purgedAtOnce = 200;

/**
 * The index in one thread: passages and words in SQLite, vectors and the source of every passage in memory. Whether a passage is
 * visible depends only on its source, so a source appears and disappears in one step.
 */
export class IndexEngine {
  readonly #close: () => void;
  readonly #store: PassageStore;
  readonly #words: WordSearch;
  readonly #entries = new SourceEntries();
  readonly #slots = new Slots();
  /** By embedding model and length: a provider's model can change its vectors without changing its name. */
  readonly #vectors = new Map<string, VectorStore>();
  /** Where the vectors of a source are, by its number. All have the same length. */
  readonly #vectorsOfSource = new Map<number, VectorStore>();
  readonly #removed: number[];

  /** `directory` is the folder of the index. */
  constructor(directory: string) {
    const database = openIndexDatabase(directory);
    this.#close = () => database.close();
    this.#store = createPassageStore(database);
    this.#words = new WordSearch(database);
    for (const entry of this.#store.entries()) this.#entries.set(entry);
    this.#removed = this.#store.removedNumbers();
    for (const { id, source } of this.#store.places()) this.#slots.set(id, source);
    for (const { id, source, ...vector } of this.#store.vectors()) {
      const entry = this.#entries.get(source);
      const store = entry && this.#vectorsOf(entry, vector.bytes);
      if (!store) continue;
      store.set(id, vector);
      this.#vectorsOfSource.set(source, store);
    }
  }

  close(): void {
    this.#close();
  }

  begin(revision: SourceRevision): { passages: number } {
    const ofSource = this.#entries.ofSource(revision.sourceId);
    const same = ofSource.find((entry) => entry.revision === revision.revision);
    if (same) return { passages: this.#store.count(same.number) };
    const unfinished = ofSource.filter(({ isFinished }) => !isFinished);
    const entry = this.#store.transaction(() => {
      this.#markRemoved(unfinished);
      return this.#store.addSource(revision);
    });
    this.#hide(unfinished);
    this.#entries.set(entry);
    return { passages: 0 };
  }

  add({ sourceId, revision, first, passages, vectors }: PassageBatch): void {
    const entry = this.#requireEntry(sourceId, revision);
    if (entry.isFinished) return;
    const store = this.#vectorsOf(entry, vectors?.[0]);
    const taken: number[] = [];
    try {
      this.#store.transaction(() => {
        passages.forEach((passage, index) => {
          if (this.#store.has(entry.number, first + index)) return;
          const id = this.#slots.take(entry.number);
          taken.push(id);
          const vector = vectors?.[index];
          const quantized = vector ? quantize(vector) : null;
          this.#store.insert({ ...passage, id, source: entry.number, position: first + index }, quantized);
          this.#words.add(id, passage.text, passage.heading);
          if (quantized) store?.set(id, quantized);
        });
      });
    } catch (error) {
      for (const id of taken) this.#slots.free(id);
      throw error;
    }
    if (store) this.#vectorsOfSource.set(entry.number, store);
  }

  finish({ sourceId, revision }: Pick<SourceRevision, 'sourceId' | 'revision'>): { passages: number } {
    const entry = this.#requireEntry(sourceId, revision);
    const others = this.#entries.ofSource(sourceId).filter(({ number }) => number !== entry.number);
    this.#store.transaction(() => {
      this.#store.finishSource(entry.number);
      this.#markRemoved(others);
    });
    this.#hide(others);
    this.#entries.set({ ...entry, isFinished: true });
    return { passages: this.#store.count(entry.number) };
  }

  removeSources(sourceIds: readonly string[]): void {
    this.#remove(sourceIds.flatMap((sourceId) => this.#entries.ofSource(sourceId)));
  }

  removeDataspace(dataspaceId: string): void {
    this.#remove([...this.#entries.all()].filter((entry) => entry.dataspaceId === dataspaceId));
  }

  sources(): IndexedSource[] {
    return [...this.#entries.all()].map(({ number, ...entry }) => ({
      ...entry,
      passages: this.#store.count(number),
    }));
  }

  /** Deletes some removed passages; false if none are left. */
  purge(): boolean {
    const number = this.#removed[0];
    if (number === undefined) return false;
    const ids = this.#store.someOf(number, purgedAtOnce);
    const isLast = ids.length < purgedAtOnce;
    this.#store.transaction(() => {
      this.#words.erasure.begin();
      for (const id of ids) {
        this.#words.remove(id);
        this.#store.remove(id);
      }
      if (isLast) this.#store.forgetSource(number);
    });
    for (const id of ids) this.#slots.free(id);
    if (isLast) this.#removed.shift();
    if (isLast && this.#slots.count === 0) this.#words.clear();
    return true;
  }

  /** Erases a few remains of deleted passages from the file; false if none are left. Takes some milliseconds. */
  erase(): boolean {
    return this.#words.erasure.step();
  }

  passages(page: { sourceId: string; first: number; limit: number }): (IndexedPassage & { position: number })[] {
    const entry = this.#finishedEntry(page.sourceId);
    if (!entry) return [];
    return this.#store
      .page(entry.number, page.first, page.limit)
      .map((passage) => ({ position: passage.position, ...plainPassage(passage) }));
  }

  read(references: readonly { sourceId: string; start: number; end: number }[]): (IndexedPassage | null)[] {
    return references.map(({ sourceId, start, end }) => {
      const entry = this.#finishedEntry(sourceId);
      const found = entry && this.#store.at(entry.number, start, end);
      return found ? plainPassage(found) : null;
    });
  }

  search(query: IndexQuery): IndexHit[] {
    const { embedding } = query;
    // None for a query vector of another length.
    const vectors = (embedding && this.#vectors.get(vectorsKey(embedding.model, embedding.vector))) ?? null;
    const found = searchPassages(query, {
      store: this.#store,
      words: this.#words,
      passages: this.#slots.count,
      vectors,
      ...this.#scope(query.dataspaceIds, vectors),
    });
    return found.map(({ source, ...hit }) => ({ ...hit, sourceId: this.#entries.get(source)!.sourceId }));
  }

  #scope(dataspaceIds: readonly string[], vectors: VectorStore | null): SearchScope {
    const requested = new Set(dataspaceIds);
    const allowed = new Set<number>();
    const comparable = new Set<number>();
    for (const entry of this.#entries.all()) {
      if (!entry.isFinished || !requested.has(entry.dataspaceId)) continue;
      allowed.add(entry.number);
      if (this.#vectorsOfSource.get(entry.number) === vectors) comparable.add(entry.number);
    }
    return {
      isAllowed: (id) => allowed.has(this.#slots.sourceOf(id)),
      isComparable: (id) => comparable.has(this.#slots.sourceOf(id)),
    };
  }

  #vectorsOf({ number, embeddingModel }: SourceEntry, vector: ArrayLike<number> | undefined): VectorStore | null {
    if (embeddingModel === null || !vector) return null;
    const key = vectorsKey(embeddingModel, vector);
    const known = this.#vectorsOfSource.get(number) ?? this.#vectors.get(key);
    if (known) return known;
    const made = new VectorStore(vector.length);
    this.#vectors.set(key, made);
    return made;
  }

  #finishedEntry(sourceId: string): SourceEntry | undefined {
    return this.#entries.ofSource(sourceId).find(({ isFinished }) => isFinished);
  }

  #requireEntry(sourceId: string, revision: string): SourceEntry {
    const entry = this.#entries.ofSource(sourceId).find((other) => other.revision === revision);
    if (entry) return entry;
    throw new Error(`The revision ${revision} of the source ${sourceId} is not open.`);
  }

  #remove(entries: readonly SourceEntry[]): void {
    this.#store.transaction(() => this.#markRemoved(entries));
    this.#hide(entries);
  }

  #markRemoved(entries: readonly SourceEntry[]): void {
    for (const { number } of entries) this.#store.markRemoved(number);
  }

  /** From here on no search finds them. Their passages are deleted later, a few at a time. */
  #hide(entries: readonly SourceEntry[]): void {
    for (const entry of entries) {
      this.#entries.delete(entry);
      this.#vectorsOfSource.delete(entry.number);
      this.#removed.push(entry.number);
    }
  }
}
