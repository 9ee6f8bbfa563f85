import { type JudgeCalibration, minLabels } from '../../../shared/contract/judges.ts';
import { type Agreement, measureAgreement } from '../../../shared/statistics/agreement.ts';

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

function describe(heldOut: Agreement, isReliable: boolean): string {
  const same = Math.round(heldOut.share * heldOut.rows);
  const share = `Agrees on ${same} of ${heldOut.rows} held-out answers`;
  if (heldOut.kappa === null || !heldOut.interval) {
    return `${share}, which all have one label. Label answers that pass and answers that fail.`;
  }
  const [low, high] = heldOut.interval.map((end) => end.toFixed(2));
  const kappa = `${share}: kappa ${heldOut.kappa.toFixed(2)} (95 %: ${low} to ${high})`;
  return isReliable ? kappa : `${kappa}, which may be chance. Improve the prompt or label more answers.`;
}

/** Whether the verdicts of a judge count: enough labels, and more agreement on the held-out half than by chance. */
export function calibrate(answers: readonly LabelledAnswer[], judgeHash: string): JudgeCalibration {
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
    const sentence = `${answers.length} of ${minLabels} labels. Label ${found.labelsNeeded} more answers by hand.`;
    return { ...found, isCalibrated: false, sentence };
  }
  if (!heldOut || heldOutAnswers.length < minHeldOut) {
    const sentence = `The judge has verdicts on ${heldOutAnswers.length} held-out answers; ${minHeldOut} are needed. Run the judge, or label more rows.`;
    return { ...found, isCalibrated: false, sentence };
  }
  const isCalibrated = (heldOut.interval?.[0] ?? 0) > 0;
  return { ...found, isCalibrated, sentence: describe(heldOut, isCalibrated) };
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
