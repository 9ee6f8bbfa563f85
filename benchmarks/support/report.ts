/** One measured figure with its target; `met` is null without a target. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly aim: string | null;
  readonly met: boolean | null;
}

export function row(what: string, value: number, unit: string, aim?: { max?: number; min?: number }): Row {
  const rounded = Number(value.toPrecision(4));
  if (aim?.max !== undefined) return { what, value: rounded, unit, aim: `<= ${aim.max}`, met: value <= aim.max };
  if (aim?.min !== undefined) {
    return { what, value: rounded, unit, aim: `>= ${aim.min}`, met: value >= aim.min };
  }
  return { what, value: rounded, unit, aim: null, met: null };
}

/** Prints the rows for people, then as one line of JSON for programs. */
export function printReport(name: string, rows: readonly Row[]): void {
  for (const { what, value, unit, aim, met } of rows) {
    const verdict = met === null ? '' : met ? `  (aim ${aim}: met)` : `  (aim ${aim}: NOT met)`;
    console.log(`${what.padEnd(64)} ${String(value).padStart(10)} ${unit}${verdict}`);
  }
  console.log(JSON.stringify({ name, rows }));
}

/** The value below which the given share of the samples is. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);
