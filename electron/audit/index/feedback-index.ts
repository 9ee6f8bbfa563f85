import type { FeedbackRow } from '../../storage/schema.ts';
import { blockOf, emptyBits, offsetOf, setBit, type Bits } from './bits.ts';

export interface FeedbackTest {
  readonly passes: (feedback: IndexedFeedback) => boolean;
  /** What every comment that passes contains, in lower case; empty if nothing is known. */
  readonly text: string;
}

export const anyFeedback: FeedbackTest = { passes: () => true, text: '' };

export interface IndexedFeedback {
  readonly run: number;
  readonly score: number | null;
  /** In lower case. */
  readonly text: string;
  /** Equal lists share one array, so that each list is tested only once. */
  readonly tags: readonly string[];
}

/** The tags of a comma-separated list. */
export function tagsOf(list: string | null): string[] {
  if (list === null) return [];
  return list
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** The result of one test, valid until the block changes. */
interface Found {
  readonly version: number;
  /** Null for none. */
  readonly bits: Bits | null;
}

/** The feedback of one block's runs. */
interface FeedbackBlock {
  readonly rows: Map<number, IndexedFeedback>;
  version: number;
  /** Made at the first test after a change. */
  comments: Comments | null;
}

/** The comments of a block as one text: one search of it takes a tenth of the time of a search in each comment. */
interface Comments {
  readonly rows: readonly IndexedFeedback[];
  readonly joined: string;
  /** Where the comment of each row starts in the text. */
  readonly starts: Uint32Array;
}

function joinComments(block: FeedbackBlock): Comments {
  const rows = [...block.rows.values()];
  const starts = new Uint32Array(rows.length);
  let length = 0;
  for (const [index, { text }] of rows.entries()) {
    starts[index] = length;
    length += text.length + 1;
  }
  return { rows, joined: rows.map(({ text }) => text).join('\0'), starts };
}

/** The last row that starts at or before the offset. */
function rowAt(starts: Uint32Array, offset: number): number {
  let first = 0;
  let end = starts.length;
  while (end - first > 1) {
    const middle = (first + end) >> 1;
    if (starts[middle]! <= offset) first = middle;
    else end = middle;
  }
  return first;
}

/** The rows whose comment may contain the text, each once. */
function* rowsWith({ rows, joined, starts }: Comments, text: string): Iterable<IndexedFeedback> {
  for (let at = joined.indexOf(text); at >= 0;) {
    const row = rowAt(starts, at);
    yield rows[row]!;
    if (row + 1 === rows.length) return;
    at = joined.indexOf(text, starts[row + 1]);
  }
}

const maxCached = 32;

/** Shared lists of tags: far more than a few dozen tags produce. */
const maxSharedTags = 10_000;

/**
 * Feedback changes and there is little of it, so all of it is in memory and tested one by one, block by block: a first page usually needs
 * only the newest blocks.
 */
export class FeedbackIndex {
  readonly #blocks = new Map<number, FeedbackBlock>();
  readonly #results = new Map<string, Map<number, Found>>();
  readonly #tags = new Map<string | null, readonly string[]>();
  version = 0;

  set({ run, score, score_text, score_tags }: FeedbackRow): void {
    if (score === null && score_text === null && score_tags === null) return this.delete(run);
    const block = this.#touched(blockOf(run));
    block.rows.set(run, { run, score, text: (score_text ?? '').toLowerCase(), tags: this.#sharedTags(score_tags) });
  }

  delete(run: number): void {
    this.#touched(blockOf(run)).rows.delete(run);
  }

  get(run: number): IndexedFeedback | undefined {
    return this.#blocks.get(blockOf(run))?.rows.get(run);
  }

  ofBlock(block: number): Iterable<IndexedFeedback> {
    return this.#blocks.get(block)?.rows.values() ?? [];
  }

  *values(): Iterable<IndexedFeedback> {
    for (const { rows } of this.#blocks.values()) yield* rows.values();
  }

  /** Grows with every change of feedback on a run of the block. */
  versionOf(block: number): number {
    return this.#blocks.get(block)?.version ?? 0;
  }

  /** The runs of a block whose feedback passes the test; null if there are none. `key` identifies the test. */
  matches(key: string, block: number, { passes, text }: FeedbackTest): Bits | null {
    const present = this.#blocks.get(block);
    if (present === undefined) return null;
    const found = this.#foundFor(key);
    const known = found.get(block);
    if (known?.version === present.version) return known.bits;
    let bits: Bits | null = null;
    const comments = (present.comments ??= joinComments(present));
    for (const feedback of text === '' ? comments.rows : rowsWith(comments, text)) {
      if (passes(feedback)) setBit((bits ??= emptyBits()), offsetOf(feedback.run));
    }
    found.set(block, { version: present.version, bits });
    return bits;
  }

  #sharedTags(list: string | null): readonly string[] {
    const known = this.#tags.get(list);
    if (known !== undefined) return known;
    const tags = tagsOf(list);
    if (this.#tags.size < maxSharedTags) this.#tags.set(list, tags);
    return tags;
  }

  #touched(block: number): FeedbackBlock {
    this.version += 1;
    let present = this.#blocks.get(block);
    if (present === undefined) this.#blocks.set(block, (present = { rows: new Map(), version: 0, comments: null }));
    present.version += 1;
    present.comments = null;
    return present;
  }

  #foundFor(key: string): Map<number, Found> {
    const found = this.#results.get(key) ?? new Map<number, Found>();
    this.#results.delete(key);
    this.#results.set(key, found);
    if (this.#results.size > maxCached) this.#results.delete(this.#results.keys().next().value!);
    return found;
  }
}
