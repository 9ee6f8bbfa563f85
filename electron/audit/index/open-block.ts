import { blockRuns, placeOf } from './bits.ts';
import { forEachTerm, numberFields, type IndexedRun, type NumberField } from './run-terms.ts';
import type { Terms } from './terms.ts';

/** Numbers of a block's runs by place; NaN where a run has none or there is no run. */
export type Numbers = Float64Array;

/** A block in memory that still changes: it is not full, or some of its runs have not ended. */
export class OpenBlock {
  readonly postings = new Map<number, number[]>();
  readonly numbers: Record<NumberField, Numbers>;
  readonly #terms: Terms;
  /** Codes that a run was listed under, for those that have not ended and will be listed anew. */
  readonly #codesOfRunning = new Map<number, number[]>();

  constructor(terms: Terms) {
    this.#terms = terms;
    this.numbers = Object.fromEntries(
      numberFields.map((field) => [field, new Float64Array(blockRuns).fill(Number.NaN)]),
    ) as Record<NumberField, Numbers>;
  }

  get runningRuns(): readonly number[] {
    return [...this.#codesOfRunning.keys()];
  }

  /** Lists a run, or lists it anew when it was under way until now. */
  put(run: IndexedRun): void {
    const place = placeOf(run.sequence);
    this.#forget(run.sequence, place);
    const codes: number[] = [];
    forEachTerm(run, (field, value) => codes.push(this.#terms.make(field, value)));
    for (const code of codes) this.#list(code, place);
    for (const field of numberFields) this.numbers[field][place] = run[field] ?? Number.NaN;
    if (run.status === 'Running') this.#codesOfRunning.set(run.sequence, codes);
  }

  #list(code: number, place: number): void {
    const places = this.postings.get(code);
    if (places === undefined) this.postings.set(code, [place]);
    else places.push(place);
  }

  #forget(run: number, place: number): void {
    const codes = this.#codesOfRunning.get(run);
    if (codes === undefined) return;
    this.#codesOfRunning.delete(run);
    for (const code of codes) {
      const places = this.postings.get(code)!;
      places.splice(places.lastIndexOf(place), 1);
    }
  }
}
