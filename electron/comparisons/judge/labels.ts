import { AppError, invalidField } from '../../../shared/app-error.ts';
import { type HandLabel, type JudgeInput, type JudgeLabel, maxLabels } from '../../../shared/contract/judges.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { JudgeStore, NewLabel, StoredJudge, StoredLabel } from '../../storage/judge-store.ts';
import type { CheckedRow } from '../checks/expected.ts';
import { labelledBy } from './calibration.ts';
import type { PairJudge } from './pair-judge.ts';
import {
  judgeAll,
  type JudgedAnswer,
  type JudgeOptions,
  type JudgingOptions,
  parallel,
  type VerdictRuns,
} from './verdict-runs.ts';
import { judgeHashOf } from './verdicts.ts';

/** The label of an answer, or of a pair of answers. */
export interface LabelInput {
  readonly runId: string;
  readonly otherRunId?: string | undefined;
  readonly label: HandLabel;
}

/** Labels by hand, with which judges are calibrated. A reader may label the runs that it may read. */
export interface JudgeLabels {
  /** Newest first. */
  list(judge: StoredJudge): JudgeLabel[];
  /** A null label removes it. Throws `not_found` for a run, and `invalid_request` with the field. */
  set(judge: StoredJudge, label: LabelInput | (Omit<LabelInput, 'label'> & { label: null }), reader: FileReader): void;
  /** Adds those of answers or pairs without a label, up to the limit, and says how many. Leaves out runs that the reader can't read. */
  add(judge: StoredJudge, labels: readonly LabelInput[], reader: FileReader): number;
  /** Judges what is labelled and has no verdict of the judge as it is. Throws as a completion does. */
  judge(judge: StoredJudge, reader: FileReader, options: JudgeOptions): Promise<void>;
}

interface LabelsOptions {
  readonly store: Pick<JudgeStore, 'labels' | 'setLabel' | 'removeLabel'>;
  readonly verdicts: Pick<VerdictRuns, 'readAnswer'>;
  readonly findPairJudge: (id: string) => PairJudge;
  readonly judgeOnce: (
    judge: StoredJudge,
    answer: JudgedAnswer,
    options: JudgeOptions & JudgingOptions,
  ) => Promise<unknown>;
}

const labelsOf: Readonly<Record<ReturnType<typeof labelledBy>, readonly HandLabel[]>> = {
  answers: ['pass', 'fail'],
  pairs: ['first', 'second', 'tie'],
};

const answerNames: ReadonlySet<string> = new Set(['answer', 'first', 'second']);

/** Whether the values of a run are all that the prompt has. Columns with expected values are known in a comparison only. */
function hasValues({ promptText }: JudgeInput, row: CheckedRow): boolean {
  return parseTemplate(promptText).variables.every(
    ({ kind, name }) => kind === 'condition' || answerNames.has(name) || Object.hasOwn(row, name.split('.')[0]!),
  );
}

function describeLabel({ input }: StoredJudge, { createdAt, verdict, ...label }: StoredLabel): JudgeLabel {
  return {
    ...label,
    verdict: verdict?.verdict ?? null,
    isStale: verdict !== null && verdict.judgeHash !== judgeHashOf(input),
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** The same for both orders of a pair. */
const keyOf = ({ runId, otherRunId }: Pick<StoredLabel, 'runId' | 'otherRunId'>) =>
  [runId, otherRunId ?? ''].toSorted().join(' ');

/** Null for a run that was deleted, or that the reader can't read. */
function ifReadable<Found>(read: () => Found): Found | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** Throws `invalid_request` for what does not fit what the judge judges. */
function requireFields({ input }: StoredJudge, { otherRunId, label }: { otherRunId?: string; label: string | null }) {
  const labelled = labelledBy(input);
  if (label !== null && !labelsOf[labelled].includes(label as HandLabel))
    throw invalidField('label', `must be ${labelsOf[labelled].map((name) => `\`${name}\``).join(' or ')}`);
  if (labelled === 'pairs' && otherRunId === undefined)
    throw invalidField('otherRunId', 'is required for a judge of preferences');
  if (labelled === 'answers' && otherRunId !== undefined)
    throw invalidField('otherRunId', 'is only for a judge of preferences');
}

function runsOf({ runId, otherRunId }: Omit<LabelInput, 'label'>) {
  if (otherRunId?.toLowerCase() === runId.toLowerCase()) throw invalidField('otherRunId', 'must be another run');
  return { runId: runId.toLowerCase(), otherRunId: otherRunId?.toLowerCase() ?? null };
}

/** Throws `not_found` for a run that the reader can't read. */
function newLabel(
  input: LabelInput,
  { verdicts, reader }: Pick<LabelsOptions, 'verdicts'> & { readonly reader: FileReader },
): NewLabel {
  const { runId, otherRunId } = runsOf(input);
  const { isHeldOut } = verdicts.readAnswer(runId, 'runId', reader);
  if (otherRunId !== null) verdicts.readAnswer(otherRunId, 'otherRunId', reader);
  return { runId, otherRunId, isHeldOut, label: input.label };
}

export function createJudgeLabels({ store, verdicts, findPairJudge, judgeOnce }: LabelsOptions): JudgeLabels {
  const labels = ({ input, sequence }: StoredJudge) => store.labels(sequence, labelledBy(input));

  async function judgePair(
    judge: StoredJudge,
    { runId, otherRunId }: StoredLabel,
    { reader, ...options }: JudgeOptions & { readonly reader: FileReader },
  ): Promise<void> {
    const pairJudge = findPairJudge(judge.id);
    const runIds = [runId, otherRunId!] as const;
    const found = pairJudge.find(runIds);
    if (found && !found.isStale) return;
    const first = ifReadable(() => pairJudge.rowOf(runIds, reader));
    if (!first || !hasValues(judge.input, first.row)) return;
    await pairJudge.ask(runIds, first.row, { ...options, reader, concurrency: parallel });
  }

  return {
    list: (judge) => labels(judge).map((label) => describeLabel(judge, label)),
    set(judge, input, reader) {
      const { label, ...runs } = input;
      requireFields(judge, input as { otherRunId?: string; label: string | null });
      if (label === null) return store.removeLabel(judge.sequence, runsOf(runs));
      const added = newLabel({ ...runs, label }, { verdicts, reader });
      const found = labels(judge);
      if (found.length >= maxLabels && !found.some((other) => keyOf(other) === keyOf(added)))
        throw new AppError('invalid_request', `The judge has ${maxLabels} labels, and can't have more.`);
      store.setLabel(judge.sequence, added);
    },
    add(judge, inputs, reader) {
      const labelled = new Set(labels(judge).map(keyOf));
      const before = labelled.size;
      for (const input of inputs) {
        const key = keyOf(runsOf(input));
        if (labelled.size >= maxLabels) break;
        const added = labelled.has(key) ? null : ifReadable(() => newLabel(input, { verdicts, reader }));
        if (!added) continue;
        store.setLabel(judge.sequence, added);
        labelled.add(key);
      }
      return labelled.size - before;
    },
    async judge(judge, reader, { origin, signal }) {
      if (labelledBy(judge.input) === 'pairs') {
        return judgeAll((label) => judgePair(judge, label, { origin, signal, reader }), labels(judge), signal);
      }
      const answers = labels(judge)
        .flatMap(({ runId }) => ifReadable(() => verdicts.readAnswer(runId, 'runId', reader)) ?? [])
        .filter(({ row }) => hasValues(judge.input, row));
      return judgeAll((answer) => judgeOnce(judge, answer, { origin, signal, concurrency: parallel }), answers, signal);
    },
  };
}
