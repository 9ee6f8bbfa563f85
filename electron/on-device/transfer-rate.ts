/** Seconds over which the rate is taken: long enough not to jump, short enough to follow a change. */
const windowMs = 5000;

/** Rate of a transfer over the last seconds. */
export interface TransferRate {
  /** `total` is the number of bytes that are here so far; a smaller number than before starts anew. */
  add(total: number): void;
  /** Null until there are two moments to compare. */
  bytesPerSecond(): number | null;
}

/** `now` gives milliseconds of a clock that never goes back. */
export function createTransferRate(now: () => number = () => performance.now()): TransferRate {
  let samples: { readonly at: number; readonly total: number }[] = [];
  return {
    add(total) {
      const at = now();
      const last = samples.at(-1);
      if (last && total < last.total) samples = [];
      samples = [...samples.filter((sample) => at - sample.at <= windowMs), { at, total }];
    },
    bytesPerSecond() {
      const first = samples[0];
      const last = samples.at(-1);
      if (!first || !last || last.at === first.at) return null;
      return ((last.total - first.total) * 1000) / (last.at - first.at);
    },
  };
}
