import type { FeedbackRow } from '../schema.ts';
import { blockOf, emptyBits, placeOf, setBit, type Bits } from './bits.ts';

type FeedbackTest = (feedback: IndexedFeedback) => boolean;

export interface IndexedFeedback {
  readonly run: number;
  readonly score: number | null;
  /** In lower case. */
  readonly text: string;
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

/** Feedback changes and there is little of it, so it is kept in memory whole and tested one by one. */
export class FeedbackIndex {
  readonly #rows = new Map<number, IndexedFeedback>();
  readonly #results = new Map<string, { version: number; blocks: Map<number, Bits> }>();
  version = 0;

  set({ run, score, score_text, score_tags }: FeedbackRow): void {
    this.version += 1;
    if (score === null && score_text === null && score_tags === null) this.#rows.delete(run);
    else this.#rows.set(run, { run, score, text: (score_text ?? '').toLowerCase(), tags: tagsOf(score_tags) });
  }

  delete(run: number): void {
    this.version += 1;
    this.#rows.delete(run);
  }

  get(run: number): IndexedFeedback | undefined {
    return this.#rows.get(run);
  }

  values(): Iterable<IndexedFeedback> {
    return this.#rows.values();
  }

  /** The runs of each block whose feedback passes; `key` tells the test from others. */
  matches(key: string, passes: FeedbackTest): Map<number, Bits> {
    const known = this.#results.get(key);
    if (known?.version === this.version) return known.blocks;
    const blocks = new Map<number, Bits>();
    for (const feedback of this.#rows.values()) {
      if (!passes(feedback)) continue;
      const block = blockOf(feedback.run);
      let bits = blocks.get(block);
      if (bits === undefined) blocks.set(block, (bits = emptyBits()));
      setBit(bits, placeOf(feedback.run));
    }
    this.#remember(key, blocks);
    return blocks;
  }

  #remember(key: string, blocks: Map<number, Bits>): void {
    this.#results.delete(key);
    this.#results.set(key, { version: this.version, blocks });
    if (this.#results.size > 32) this.#results.delete(this.#results.keys().next().value!);
  }
}
