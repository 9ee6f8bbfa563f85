import { cpus, release, totalmem, type } from 'node:os';

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

/** Every sample by what it measures, in the order of the rounds. */
export type RawResults = Readonly<Record<string, readonly number[]>>;

/** What a benchmark prints as its last line. */
export interface Report {
  readonly name: string;
  readonly date: string;
  readonly machine: ReturnType<typeof thisMachine>;
  readonly rows: readonly Row[];
  readonly raw: RawResults;
}

function thisMachine() {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
  };
}

/** Prints the rows for people, then everything as one line of JSON for programs. */
export function printReport(name: string, rows: readonly Row[], raw: RawResults = {}): void {
  for (const { what, value, unit, aim, met } of rows) {
    const verdict = met === null ? '' : met ? `  (aim ${aim}: met)` : `  (aim ${aim}: NOT met)`;
    console.log(`${what.padEnd(64)} ${String(value).padStart(10)} ${unit}${verdict}`);
  }
  const report: Report = { name, date: new Date().toISOString(), machine: thisMachine(), rows, raw };
  console.log(JSON.stringify(report));
}

/** The value below which the given share of the samples is. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);

/** Four digits of each sample: more are noise, and a report has thousands. */
export const rounded = (samples: readonly number[]): number[] => samples.map((sample) => Number(sample.toPrecision(4)));
