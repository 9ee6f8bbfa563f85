import type { Percentiles } from '../../../shared/contract/audit.ts';

/** Each class is 1 % wider than the one before. */
const ratio = Math.log(1.01);
/** From 1/100 ms to some 12 days. */
const classes = 2600;
const offset = Math.log(0.01);

/** The class that a duration falls into. */
export function classOf(milliseconds: number): number {
  if (milliseconds <= 0.01) return 0;
  return Math.min(classes - 1, Math.floor((Math.log(milliseconds) - offset) / ratio));
}

/** Counts durations by size, so that percentiles need neither a sort nor a copy. */
export class Histogram {
  readonly #counts = new Uint32Array(classes);
  #most = 0;
  count = 0;

  /** `place` is the duration's class: several histograms may share the work of finding it. */
  add(milliseconds: number, place = classOf(milliseconds)): void {
    this.#counts[place]! += 1;
    this.count += 1;
    if (milliseconds > this.#most) this.#most = milliseconds;
  }

  /** Null when nothing was counted. */
  at(share: number): number | null {
    if (this.count === 0) return null;
    let rest = Math.ceil(this.count * share);
    for (let place = 0; place < classes; place += 1) {
      rest -= this.#counts[place]!;
      if (rest <= 0) return Math.min(this.#most, Math.exp(offset + (place + 0.5) * ratio));
    }
    return this.#most;
  }

  percentiles(): Percentiles | null {
    if (this.count === 0) return null;
    const at = (share: number) => this.at(share) ?? 0;
    return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: this.#most };
  }
}
