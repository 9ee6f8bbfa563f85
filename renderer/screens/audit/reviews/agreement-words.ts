import type { ItemAgreement } from '../../../../shared/contract/review-agreement.ts';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { labelText } from './answers.ts';

type Measures = Pick<ItemAgreement, 'ratedItems' | 'percent' | 'kappa' | 'alpha' | 'interval' | 'reason'>;

/**
 * K. Krippendorff (2004), Content Analysis, second edition, section 11.4: rely on variables with an alpha above 0.8, and draw tentative
 * conclusions from those above 0.667.
 */
export const reliableFrom = 0.8;
export const tentativeFrom = 0.667;

export interface AlphaVerdict {
  readonly text: string;
  readonly tone: 'positive' | 'caution' | 'negative';
}

export function verdictOf(alpha: number): AlphaVerdict {
  if (alpha >= reliableFrom) return { text: 'Reliable', tone: 'positive' };
  if (alpha >= tentativeFrom) return { text: 'Tentative', tone: 'caution' };
  return { text: 'Too low', tone: 'negative' };
}

/** Two decimals, with a real minus. */
export function figure(value: number): string {
  const text = Math.abs(value).toFixed(2);
  return value < 0 && text !== '0.00' ? `−${text}` : text;
}

function intervalText([low, high]: readonly [number, number]): string {
  return `95%: ${figure(low)} to ${figure(high)}`;
}

const meanings: Readonly<Record<AlphaVerdict['tone'], string>> = {
  positive: 'reliable',
  caution: 'enough for tentative conclusions',
  negative: 'too low to rely on',
};

/** The figures of an item, or of two raters, who have kappa, in sentences. Never only a number. */
export function describeMeasures({ ratedItems, percent, kappa, alpha, interval, reason }: Measures): string {
  const parts: string[] = [];
  if (percent !== null)
    parts.push(`Ratings agree in ${Math.round(percent * 100)}% of pairs, over ${formatPlural(ratedItems, 'item')}.`);
  const range = interval ? ` (${intervalText(interval)})` : '';
  const value = alpha ?? kappa;
  if (value !== null)
    parts.push(`${alpha === null ? 'Kappa' : 'Alpha'} ${figure(value)}${range}: ${meanings[verdictOf(value).tone]}.`);
  if (alpha !== null && kappa !== null) parts.push(`Kappa ${figure(kappa)}.`);
  if (reason !== null) parts.push(reason);
  return parts.join(' ');
}

export interface Comparison extends Measures {
  readonly key: string;
  /** In rows and in columns of the matrix. */
  readonly names: readonly [string, string];
  /** Whose cells they are, for the items of one. */
  readonly between: { readonly first: string; readonly second: string } | { readonly against: string };
  readonly matrix: ItemAgreement['matrix'];
  /** A label of the matrix for people. */
  readonly textOf: (label: string) => string;
}

const outsideLabels = new Map([
  ['pass', 'Pass'],
  ['fail', 'Fail'],
  ['flagged', 'Flagged'],
  ['notFlagged', 'Not flagged'],
]);

/** What a judge or the guard says, for people. */
export const outsideText = (label: string): string => outsideLabels.get(label) ?? labelText(label, 'score');

/** Where all pairs are listed; what the reviewers are compared with needs no "Reviewers" before each. */
export const comparisonName = ({ names, between }: Comparison): string =>
  'against' in between ? names[1] : names.join(', ');

/** Pairs of reviewers, then what their final values are compared with. */
export function comparisonsOf({ kind: itemKind, pairs, against }: ItemAgreement): Comparison[] {
  return [
    ...pairs.map(({ first, second, firstId, secondId, ...measures }): Comparison => ({
      ...measures,
      key: `${firstId} ${secondId}`,
      names: [first, second],
      between: { first: firstId, second: secondId },
      textOf: (label) => labelText(label, itemKind),
    })),
    ...against.map(({ kind, id, name, ...measures }): Comparison => ({
      ...measures,
      key: `${kind} ${id}`,
      names: ['Reviewers', kind === 'judge' ? `Judge ${name}` : name],
      between: { against: id },
      textOf: outsideText,
    })),
  ];
}

/** How many items two raters answered in the same way. */
export function equalText({ rows }: NonNullable<Comparison['matrix']>): string {
  const equal = rows.reduce((sum, row, index) => sum + row[index]!, 0);
  return `agree in ${formatWhole(equal)} of ${formatWhole(rows.flat().reduce((sum, count) => sum + count, 0))}`;
}

/** The most frequent disagreement of two reviewers, if it is most of them; null otherwise, and for judges and the guard, who read no hints. */
export function mainConfusion({ matrix, names, between, textOf }: Comparison): string | null {
  if (!matrix || 'against' in between) return null;
  const cells = matrix.rows.flatMap((row, index) =>
    row.flatMap((count, at) =>
      index === at ? [] : [{ count, row: matrix.labels[index]!, column: matrix.labels[at]! }],
    ),
  );
  const all = cells.reduce((sum, { count }) => sum + count, 0);
  const [first] = cells.toSorted((one, other) => other.count - one.count);
  if (!first || all < 4 || first.count * 5 < all * 2) return null;
  return `${names[1]} often picks ${textOf(first.column)} where ${names[0]} picks ${textOf(first.row)}: ${first.count} of ${formatPlural(all, 'disagreement')}.`;
}
