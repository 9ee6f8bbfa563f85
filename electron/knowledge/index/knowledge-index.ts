interface Cancellable {
  readonly signal: AbortSignal;
}

/** One chunk of a source's text, the unit of search and citation. */
export interface IndexedPassage {
  readonly text: string;
  /** Offsets into the source's extracted text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Page of the document, from 1; null where there are none. */
  readonly page: number | null;
  /** Headings above it; searched with its text. Null where there are none. */
  readonly heading: string | null;
}

/** One reading of a source. It is invisible until it is finished and then takes the place of the reading before. */
export interface SourceRevision {
  readonly sourceId: string;
  readonly dataspaceId: string;
  /** Chosen by the caller; beginning the same one again resumes it. */
  readonly revision: string;
  /** Names what made the vectors; only vectors of one model are compared. Null when the source has none and is found by words alone. */
  readonly embeddingModel: string | null;
}

/** What the index holds of a source. */
export interface IndexedSource extends SourceRevision {
  readonly passages: number;
  /** Whether the revision can be found; otherwise it is still being written. */
  readonly isFinished: boolean;
}

export interface PassageBatch {
  readonly sourceId: string;
  readonly revision: string;
  /** The position of the first passage in the source, from 0. Existing positions aren't changed. */
  readonly first: number;
  readonly passages: readonly IndexedPassage[];
  /** One vector of length 1 for each passage; null for a revision without an embedding model. */
  readonly vectors: readonly Float32Array[] | null;
}

export interface IndexQuery {
  readonly dataspaceIds: readonly string[];
  /** Searched as plain words; nothing in it is syntax. */
  readonly text: string;
  /** Of length 1; null searches by words alone. */
  readonly embedding: { readonly model: string; readonly vector: Float32Array } | null;
  /**
   * The questions in the text, which are also searched separately. A vector is of the same model, null where the embedding is.
   * A passage gets the scores of the text or of the part, whichever fits it best.
   */
  readonly parts?: readonly { readonly text: string; readonly vector: Float32Array | null }[];
  /** Most hits, 1 to 200. */
  readonly limit: number;
}

export interface IndexHit extends IndexedPassage {
  readonly sourceId: string;
  /** Place among the source's passages, from 0. */
  readonly position: number;
  /** Place in the list by words, from 1; null when it is not among its first ones. */
  readonly textRank: number | null;
  /** BM25, the higher the better; null without a place in the list by words. */
  readonly textScore: number | null;
  /** Share of the weight of the question's words that the passage holds, 0 to 1; rare words weigh more. */
  readonly coverage: number;
  /** Place in the list by meaning, from 1; null when it is not among its first ones. */
  readonly vectorRank: number | null;
  /** Cosine of the angle between question and passage; null when one of them has no vector. */
  readonly similarity: number | null;
  /** How likely it holds what was asked, 0 to 1; what the hits are ordered by. See `relevanceOf`. */
  readonly relevance: number;
}

/**
 * Passages with their words and vectors, searchable. It is derived from the sources: `sources` lists its content.
 * What the main database doesn't know may be removed, and what is missing is indexed again. It runs in a worker thread.
 */
export interface KnowledgeIndex {
  /** Opens a revision, or resumes an interrupted one; returns how many passages it already holds. Another unfinished revision of the source is dropped. */
  begin(revision: SourceRevision, options: Cancellable): Promise<{ readonly passages: number }>;
  /** Writes some passages of an open revision, durably. Throws when the revision is not open (its source was removed meanwhile). */
  add(batch: PassageBatch, options: Cancellable): Promise<void>;
  /** Atomically replaces the visible revision. Returns its number of passages. */
  finish(
    revision: Pick<SourceRevision, 'sourceId' | 'revision'>,
    options: Cancellable,
  ): Promise<{ readonly passages: number }>;
  /** Drops everything of these sources; no search that begins later finds them. Unknown ids are left alone. */
  removeSources(sourceIds: readonly string[]): Promise<void>;
  removeDataspace(dataspaceId: string): Promise<void>;
  /** Everything that the index holds, also unfinished revisions. */
  sources(): Promise<readonly IndexedSource[]>;
  /** The best passages, best first. Unknown dataspaces have none. */
  search(query: IndexQuery, options: Cancellable): Promise<readonly IndexHit[]>;
  /** The passages of a finished source in their order, from place `first` on. */
  passages(
    page: { readonly sourceId: string; readonly first: number; readonly limit: number },
    options: Cancellable,
  ): Promise<readonly (IndexedPassage & { readonly position: number })[]>;
  /** The shortest passages that hold these places in their finished sources; null where there is none. */
  read(
    places: readonly { readonly sourceId: string; readonly start: number; readonly end: number }[],
    options: Cancellable,
  ): Promise<readonly (IndexedPassage | null)[]>;
  /** Calls back when a damaged index was replaced by an empty one. */
  onLost(listener: () => void): void;
  /** Ends the thread after all pending calls. */
  close(): Promise<void>;
}
