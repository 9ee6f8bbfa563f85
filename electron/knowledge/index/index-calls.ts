import type { IndexEngine } from './index-engine.ts';

/** What the host's thread may ask of the index's. */
export type IndexMethod =
  'begin' | 'add' | 'finish' | 'removeSources' | 'removeDataspace' | 'sources' | 'search' | 'passages' | 'read';

export type IndexCalls = Pick<IndexEngine, IndexMethod>;

export interface IndexCall {
  readonly id: number;
  readonly method: IndexMethod;
  readonly input: unknown;
}

/** What the thread is sent. A call that is cancelled before it was begun is not carried out. */
export type IndexMessage = IndexCall | { readonly cancel: number } | 'close';

/** Said when the index was damaged and begun anew without anything in it. */
export type IndexLoss = 'lost';

export interface IndexAnswer {
  readonly id: number;
  readonly result?: unknown;
  /** For the log; none of it is an expected failure. */
  readonly failure?: string;
  /** The code that Node or SQLite gave the failure. */
  readonly code?: string | undefined;
}
