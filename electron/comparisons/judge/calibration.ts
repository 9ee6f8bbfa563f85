import { createHash } from 'node:crypto';
import {
  type JudgeCalibration,
  type JudgeInput,
  type JudgeVerdict,
  minLabels,
} from '../../../shared/contract/judges.ts';
import { type Agreement, measureAgreement } from '../../../shared/statistics/agreement.ts';
import { type JudgeStore, type StoredJudge, type StoredLabel, turnedPreference } from '../../storage/judge-store.ts';
import { judgeHashOf } from './verdicts.ts';

/** A label by hand, and what the judge says of the same answer. */
export interface LabelledAnswer {
  readonly isHeldOut: boolean;
  /** `pass`, `fail`, or the preferred answer. */
  readonly label: string;
  /** Null without a verdict. */
  readonly verdict: string | null;
  /** Of the judge that gave the verdict. */
  readonly judgeHash: string | null;
}

/** Fewer don't tell anything. */
const minHeldOut = 10;

function agreementOf(answers: readonly LabelledAnswer[]): Agreement | null {
  return measureAgreement(answers.map(({ label, verdict }) => [label, verdict!]));
}

/** What is labelled: answers, or pairs of them by a judge of preferences. */
export type Labelled = 'answers' | 'pairs';

const otherLabels: Readonly<Record<Labelled, string>> = {
  answers: 'Label answers that pass and answers that fail.',
  pairs: 'Label pairs of which one answer is better.',
};

function describe(heldOut: Agreement, isReliable: boolean, labelled: Labelled): string {
  const same = Math.round(heldOut.share * heldOut.rows);
  const share = `Agrees on ${same} of ${heldOut.rows} held-out ${labelled}`;
  if (heldOut.kappa === null || !heldOut.interval)
    return `${share}, which all have one label. ${otherLabels[labelled]}`;
  const [low, high] = heldOut.interval.map((end) => end.toFixed(2));
  const kappa = `${share}: kappa ${heldOut.kappa.toFixed(2)} (95 %: ${low} to ${high})`;
  return isReliable ? kappa : `${kappa}, which may be chance. Improve the prompt or label more ${labelled}.`;
}

/** Whether the verdicts of a judge count: enough labels, and more agreement on the held-out half than by chance. */
export function calibrate(
  answers: readonly LabelledAnswer[],
  judgeHash: string,
  labelled: Labelled = 'answers',
): JudgeCalibration {
  const judged = answers.filter((answer) => answer.verdict !== null && answer.judgeHash === judgeHash);
  const heldOutAnswers = judged.filter(({ isHeldOut }) => isHeldOut);
  const heldOut = agreementOf(heldOutAnswers);
  const found = {
    labels: answers.length,
    labelsNeeded: Math.max(minLabels - answers.length, 0),
    withoutVerdict: answers.length - judged.length,
    tuning: toResult(agreementOf(judged.filter(({ isHeldOut }) => !isHeldOut))),
    heldOut: toResult(heldOut),
  };
  if (answers.length < minLabels) {
    const sentence = `${answers.length} of ${minLabels} labels. Label ${found.labelsNeeded} more ${labelled} by hand.`;
    return { ...found, isCalibrated: false, sentence };
  }
  if (!heldOut || heldOutAnswers.length < minHeldOut) {
    const sentence = `The judge has verdicts on ${heldOutAnswers.length} held-out ${labelled}; ${minHeldOut} are needed. Run the judge, or label more rows.`;
    return { ...found, isCalibrated: false, sentence };
  }
  const isCalibrated = (heldOut.interval?.[0] ?? 0) > 0;
  return { ...found, isCalibrated, sentence: describe(heldOut, isCalibrated, labelled) };
}

export function toResult(agreement: Agreement | null): JudgeCalibration['heldOut'] {
  if (!agreement) return null;
  const { shareInterval, interval, labels, matrix } = agreement;
  return {
    ...agreement,
    shareInterval: [...shareInterval],
    interval: interval && [...interval],
    labels: [...labels],
    matrix: matrix.map((row) => [...row]),
  };
}

export const labelledBy = ({ verdict }: JudgeInput): Labelled => (verdict.kind === 'preference' ? 'pairs' : 'answers');

/** A verdict as the label that it agrees with. */
export function asLabel(verdict: JudgeVerdict['verdict'], form: JudgeInput['verdict']): StoredLabel['label'] | null {
  if (typeof verdict !== 'number') return verdict;
  return form.kind === 'score' && verdict >= form.passFrom ? 'pass' : 'fail';
}

/**
 * Whether a pair is read the other way round, which is random and stays the same. Where one variant nearly always wins, both would otherwise
 * have one label for all pairs, and no agreement would be more than chance.
 */
function isTurned({ runId, otherRunId }: Pick<StoredLabel, 'runId' | 'otherRunId'>): boolean {
  if (otherRunId === null) return false;
  const key = [runId, otherRunId].toSorted().join(' ');
  return ((createHash('sha256').update(key).digest()[0]! & 1) === 1) !== runId < otherRunId;
}

function turned(label: string | null, isOther: boolean): string | null {
  return isOther && label !== null ? turnedPreference[label as keyof typeof turnedPreference] : label;
}

/** How far preferences of a judge agree with those of people, with random sides. */
export function agreementOnPairs(
  pairs: readonly { readonly runIds: readonly [string, string]; readonly label: string; readonly verdict: string }[],
): Agreement | null {
  return measureAgreement(
    pairs.map(({ runIds: [runId, otherRunId], label, verdict }) => {
      const isOther = isTurned({ runId, otherRunId });
      return [turned(label, isOther)!, turned(verdict, isOther)!];
    }),
  );
}

/** The calibration of a judge as it is, by its labels. */
export function calibrationOf(store: Pick<JudgeStore, 'labels'>, { sequence, input }: StoredJudge): JudgeCalibration {
  const labelled = labelledBy(input);
  const answers = store.labels(sequence, labelled).map((stored) => {
    const { isHeldOut, label, verdict } = stored;
    const isOther = isTurned(stored);
    return {
      isHeldOut,
      label: turned(label, isOther)!,
      verdict: turned(verdict && asLabel(verdict.verdict, input.verdict), isOther),
      judgeHash: verdict?.judgeHash ?? null,
    };
  });
  return calibrate(answers, judgeHashOf(input), labelled);
}
