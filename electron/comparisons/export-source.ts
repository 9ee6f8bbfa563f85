import type { ComparisonCell, ComparisonReport } from '../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import type { RowValues } from '../../shared/contract/datasets.ts';

/** A cell with the values of its row. */
export interface ExportedCell {
  readonly row: number;
  readonly values: RowValues;
  readonly cell: Omit<ComparisonCell, 'answer'>;
  /** Reads the whole answer, which can have megabytes. */
  readonly readAnswer: () => string | null;
  /** Of judges, against the other answers of the row. */
  readonly preferences: readonly ExportedPreference[];
}

/** What a judge said of an answer and that of another cell in its row. */
export interface ExportedPreference {
  readonly judge: string;
  readonly outcome: 'better' | 'worse' | 'tie';
  readonly otherVariant: string;
  readonly otherRepeat: number;
  /** Whether the judge has changed since. */
  readonly isStale: boolean;
  /** Whether the judge is calibrated. */
  readonly counts: boolean;
}

export interface ExportSelection {
  /** The number of a variant; all of them unless given. */
  readonly variant?: number;
}

/** What exports are written from. */
export interface ExportSource {
  readonly comparison: Comparison;
  readonly columns: readonly string[];
  /** In the order of the rows. Reading one takes about 0.1 ms, so that whoever skips many must yield in between. */
  readonly cells: (selection?: ExportSelection) => AsyncIterable<ExportedCell>;
  readonly report: () => Promise<ComparisonReport>;
}

/** For XML 1.0, which has no way to write most control characters, and for HTML. */
export function escapeMarkup(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\x20-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
