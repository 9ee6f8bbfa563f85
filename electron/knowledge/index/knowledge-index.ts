interface Cancellable {
  readonly signal: AbortSignal;
}

/** One chunk of a source's text, the unit of search and citation. */
export interface IndexedPassage {
  readonly text: string;
  /** Offsets into the source's extracted text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Page of the document, from 1; null if the format has no pages. */
  readonly page: number | null;
  /** Headings above it, which are searched with its text; null if there are none. */
  readonly heading: string | null;
}

/** One indexing of a source. It is invisible until it is finished, and then replaces the previous one. */
export interface SourceRevision {
  readonly sourceId: string;
  readonly dataspaceId: string;
  /** Chosen by the caller; opening the same one again resumes it. */
  readonly revision: string;
  /** The embedding model. Only vectors of one model are compared. Null if the source has no vectors and is found by keywords only. */
  readonly embeddingModel: string | null;
}

/** The index's record of a source. */
export interface IndexedSource extends SourceRevision {
  readonly passages: number;
  /** Whether the revision is searchable; otherwise it is unfinished. */
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
  /** Searched as plain words, without syntax. */
  readonly text: string;
  /** Of length 1; null searches by keywords only. */
  readonly embedding: { readonly model: string; readonly vector: Float32Array } | null;
  /**
   * The questions in the text, which are also searched separately. A vector is of the same model, and null if `embedding` is. A
   * passage gets the scores of the text or of the part, whichever fits it best.
   */
  readonly parts?: readonly { readonly text: string; readonly vector: Float32Array | null }[];
  /** Max hits, 1 to 200. */
  readonly limit: number;
}

export interface IndexHit extends IndexedPassage {
  readonly sourceId: string;
  /** Index among the source's passages, from 0. */
  readonly position: number;
  /** Rank by keywords, from 1; null if it isn't among the first ones. */
  readonly textRank: number | null;
  /** BM25, higher is better; null without a rank by keywords. */
  readonly textScore: number | null;
  /** Share of the weight of the query's words that the passage contains, 0 to 1; rare words weigh more. */
  readonly coverage: number;
  /** Rank by meaning, from 1; null if it isn't among the first ones. */
  readonly vectorRank: number | null;
  /** Cosine of query and passage; null if one of them has no vector. */
  readonly similarity: number | null;
  /** Probability that it contains the answer, 0 to 1, by which hits are sorted. See `relevanceOf`. */
  readonly relevance: number;
}

/**
 * Passages with their words and vectors, searchable. It is derived from the sources: `sources` lists its content.
 * What the main database doesn't know may be removed, and what is missing is indexed again. It runs in a worker thread.
 */
export interface KnowledgeIndex {
  /**
   * Opens a revision, or resumes an interrupted one. Returns the number of its passages so far. Another unfinished revision of the
   * source is dropped.
   */
  begin(revision: SourceRevision, options: Cancellable): Promise<{ readonly passages: number }>;
  /** Durably writes some passages of an open revision. Throws if the revision is not open because its source was removed meanwhile. */
  add(batch: PassageBatch, options: Cancellable): Promise<void>;
  /** Atomically replaces the visible revision. Returns its number of passages. */
  finish(
    revision: Pick<SourceRevision, 'sourceId' | 'revision'>,
    options: Cancellable,
  ): Promise<{ readonly passages: number }>;
  /** Drops these sources; no later search finds them. Unknown IDs are ignored. */
  removeSources(sourceIds: readonly string[]): Promise<void>;
  removeDataspace(dataspaceId: string): Promise<void>;
  /** All sources of the index, also unfinished revisions. */
  sources(): Promise<readonly IndexedSource[]>;
  /** The best passages, best first. Unknown dataspaces have none. */
  search(query: IndexQuery, options: Cancellable): Promise<readonly IndexHit[]>;
  /** The passages of a finished source in order, from index `first` on. */
  passages(
    page: { readonly sourceId: string; readonly first: number; readonly limit: number },
    options: Cancellable,
  ): Promise<readonly (IndexedPassage & { readonly position: number })[]>;
  /** The shortest passages that contain these offsets of their finished sources; null if there is none. */
  read(
    places: readonly { readonly sourceId: string; readonly start: number; readonly end: number }[],
    options: Cancellable,
  ): Promise<readonly (IndexedPassage | null)[]>;
  /** Calls back when a damaged index was replaced by an empty one. */
  onLost(listener: () => void): void;
  /** Ends the thread after all pending calls. */
  close(): Promise<void>;
}
