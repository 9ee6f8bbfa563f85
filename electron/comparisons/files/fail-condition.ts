import type { ComparisonReport } from '../../../shared/contract/comparison-results.ts';

const measures = ['passRate', 'score', 'cost', 'latency'] as const;
type Measure = (typeof measures)[number];

/** `B < A`, `B.cost > A.cost`, `passRate < 0.8` or `B.passRate < 0.8`. */
export type FailCondition =
  | {
      readonly kind: 'variants';
      readonly variant: string;
      readonly baseline: string;
      readonly measure: Measure;
      readonly isBelow: boolean;
    }
  | {
      readonly kind: 'limit';
      readonly variant: string | null;
      readonly limit: number;
      readonly measure: Measure;
      readonly isBelow: boolean;
    };

interface Side {
  readonly name: string | null;
  readonly measure: Measure | null;
}

const isMeasure = (text: string): text is Measure => (measures as readonly string[]).includes(text);

/** A variant, a measure, or both: `'B 2'.cost`. */
function sideOf(text: string): Side {
  const quoted = /^'([^']+)'(?:\.(\w+))?$|^"([^"]+)"(?:\.(\w+))?$/.exec(text);
  if (quoted) {
    const measure = quoted[2] ?? quoted[4] ?? null;
    if (measure !== null && !isMeasure(measure)) throw new Error(`"${measure}" is none of ${measures.join(', ')}`);
    return { name: quoted[1] ?? quoted[3]!, measure };
  }
  if (isMeasure(text)) return { name: null, measure: text };
  const dot = text.lastIndexOf('.');
  const last = text.slice(dot + 1);
  return dot > 0 && isMeasure(last) ? { name: text.slice(0, dot), measure: last } : { name: text, measure: null };
}

/** Throws an error whose message says what is wrong. */
export function parseFailCondition(text: string): FailCondition {
  const match =
    /^\s*('[^']*'(?:\.\w+)?|"[^"]*"(?:\.\w+)?|[^<>=]+?)\s*([<>])\s*('[^']*'(?:\.\w+)?|"[^"]*"(?:\.\w+)?|[^<>=]+?)\s*$/.exec(
      text,
    );
  if (!match) throw new Error('it must be two variants, or a measure and a number, with < or > between them');
  const [, left = '', operator, right = ''] = match;
  const isBelow = operator === '<';
  const one = sideOf(left);
  const limit = /^-?\d+(?:\.\d+)?$/.test(right) ? Number(right) : null;
  if (limit !== null) return { kind: 'limit', variant: one.name, measure: one.measure ?? 'passRate', limit, isBelow };
  const other = sideOf(right);
  if (one.name === null || other.name === null) throw new Error('a measure is compared with a number');
  if (one.measure !== null && other.measure !== null && one.measure !== other.measure)
    throw new Error('both sides need the same measure');
  return {
    kind: 'variants',
    variant: one.name,
    baseline: other.name,
    measure: one.measure ?? other.measure ?? 'passRate',
    isBelow,
  };
}

export interface ConditionResult {
  readonly expression: string;
  /** Only if the whole 95 % interval says so. */
  readonly isMet: boolean;
  readonly reason: string;
}

type VariantReport = ComparisonReport['variants'][number];

function valueOf(
  report: VariantReport,
  measure: Measure,
): { value: number; interval: readonly number[] | null } | null {
  if (measure === 'passRate')
    return report.passRate === null ? null : { value: report.passRate, interval: report.interval };
  const mean = report[measure];
  return mean && { value: mean.mean, interval: mean.interval };
}

const shown = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 3 });

/** Tests a condition on reports, by the baseline that they compare with. */
export async function testCondition(
  expression: string,
  condition: FailCondition,
  reportFor: (baseline: string | null) => Promise<ComparisonReport>,
): Promise<ConditionResult> {
  const { variants } = await reportFor(condition.kind === 'variants' ? condition.baseline : null);
  if (condition.kind === 'variants') {
    const difference = variants.find(({ name }) => name === condition.variant)?.differences?.[condition.measure];
    if (!difference) return { expression, isMet: false, reason: 'A variant is compared with another one.' };
    const { interval, sentence } = difference;
    const isMet = interval !== null && (condition.isBelow ? interval[1] < 0 : interval[0] > 0);
    return { expression, isMet, reason: sentence };
  }
  const { variant, measure, limit, isBelow } = condition;
  const reasons = variants
    .filter(({ name }) => variant === null || name === variant)
    .map((report) => {
      const found = valueOf(report, measure);
      if (!found?.interval)
        return { isMet: false, reason: `${report.name}: cannot tell, too few rows have a ${measure}` };
      const [low = 0, high = 0] = found.interval;
      const reason = `${report.name}: ${measure} ${shown(found.value)} (95 %: ${shown(low)} to ${shown(high)})`;
      return { isMet: isBelow ? high < limit : low > limit, reason };
    });
  return {
    expression,
    isMet: reasons.some(({ isMet }) => isMet),
    reason: reasons.map(({ reason }) => reason).join('; '),
  };
}
