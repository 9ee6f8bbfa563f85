import type { AuditFilter } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { blockOf, blockRuns, emptyBits, fullBits, hasBit, placeOf, type Bits } from '../index/bits.ts';
import { conditionsOf, type Condition } from './conditions.ts';

/** What is found in most blocks for a filter that few runs meet. Nobody changes what was found. */
const nothing = emptyBits();

/** The runs that meet a filter, found block by block when they are asked for and kept while nothing changes. */
export class Matches {
  /** Whether every run matches, so that nothing has to be found. */
  readonly isEverything: boolean;
  readonly #index: AuditIndex;
  readonly #conditions: readonly Condition[];
  readonly #usesFeedback: boolean;
  readonly #blocks: ({ bits: Bits; version: number } | undefined)[] = [];

  constructor(filter: AuditFilter, index: AuditIndex) {
    this.#index = index;
    this.#conditions = conditionsOf(filter, index);
    this.#usesFeedback = this.#conditions.some(({ usesFeedback }) => usesFeedback);
    this.isEverything = this.#conditions.length === 0;
  }

  has(run: number): boolean {
    return this.isEverything || hasBit(this.block(blockOf(run)), placeOf(run));
  }

  /** Not to be changed. */
  block(block: number): Bits {
    // Both only grow, and so does their sum.
    const feedback = this.#usesFeedback ? this.#index.feedback.versionOf(block) : 0;
    const version = this.#index.blocks.version(block) + feedback;
    const known = this.#blocks[block];
    if (known?.version === version) return known.bits;
    const bits = this.#find(block);
    this.#blocks[block] = { bits, version };
    return bits;
  }

  #find(block: number): Bits {
    if (this.#conditions.some((condition) => condition.excludes?.(block))) return nothing;
    const bits = this.#runsOf(block);
    for (const condition of this.#conditions) condition.narrow(block, bits);
    return bits;
  }

  /** Every sequence of the block that a run has. */
  #runsOf(block: number): Bits {
    const { createdAt, count, lastRun } = this.#index.timeline;
    const first = block * blockRuns;
    // Sequences begin with 1 and have no gaps until runs are removed.
    const isFull = count === lastRun && block > 0 && first + blockRuns - 1 <= lastRun;
    if (isFull) return fullBits();
    const bits = emptyBits();
    for (let place = 0; place < blockRuns; place += 1) {
      if (createdAt[first + place]! > 0) bits[place >>> 5]! |= 1 << (place & 31);
    }
    return bits;
  }
}
