import { AppError, invalidField } from '../../../shared/app-error.ts';
import {
  type Judge,
  type JudgeCalibration,
  type JudgeInput,
  type JudgeLabel,
  type JudgeVerdict,
  maxLabels,
} from '../../../shared/contract/judges.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { createMutex } from '../../common/mutex.ts';
import type { RunOrigin } from '../../completions/completions.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { JudgeStore, StoredJudge, StoredLabel, StoredVerdict } from '../../storage/judge-store.ts';
import type { ListPage, ListQuery } from '../../storage/list-page.ts';
import { type CheckedRow, NotJudged } from '../checks/expected.ts';
import type { Providers } from '../../providers/create-providers.ts';
import { callWhenReady, type ReadyOptions } from '../paying-keys.ts';
import { providerOf } from '../provider-pauses.ts';
import { calibrate } from './calibration.ts';
import { type NamedModel, sameFamilyWarning } from './model-family.ts';
import { judgePreference, judgeSystemMessage, requireValidJudge } from './run-judge.ts';
import { createVerdictRuns, type JudgedAnswer, type JudgeOptions, type VerdictRunsOptions } from './verdict-runs.ts';
import { judgeHashOf, verdictSchema } from './verdicts.ts';

/** With a null origin only an earlier verdict is used. */
interface CheckOptions extends Omit<JudgeOptions, 'origin'> {
  readonly origin: RunOrigin | null;
}

export interface CheckedVerdict extends JudgeVerdict {
  /** Whether the judge is calibrated. */
  readonly counts: boolean;
  /** US dollars; null if the price is unknown. */
  readonly cost: number | null;
}

/** What a judge says of a run. */
export interface RunVerdict extends Pick<CheckedVerdict, 'verdict' | 'pass' | 'counts'> {
  readonly judgeId: string;
  /** Its name. */
  readonly judge: string;
  readonly isStale: boolean;
  /** The run of the judge. */
  readonly runId: string;
}

/** Methods with an id throw `not_found`. A reader is the caller, who may judge and label the runs that it may read. */
export interface Judges {
  /** Newest first. */
  list(query: ListQuery): ListPage<Judge>;
  read(id: string): Judge;
  exists(id: string): boolean;
  /** Null without a variant of the judge's family, and for a judge that was deleted. */
  familyWarning(id: string, variants: readonly NamedModel[]): string | null;
  /** Throws `invalid_request` with the field. */
  create(input: JudgeInput): Judge;
  update(id: string, input: JudgeInput): Judge;
  remove(id: string): void;
  labels(id: string): JudgeLabel[];
  /** A null label removes it. */
  setLabel(id: string, runId: string, label: 'pass' | 'fail' | null, reader: FileReader): Judge;
  /** Judges the labelled answers without a verdict. */
  calibrate(id: string, reader: FileReader, options: JudgeOptions): Promise<Judge>;
  judgeRuns(
    id: string,
    runIds: readonly [runId: string, otherRunId: string | undefined],
    reader: FileReader,
    options: JudgeOptions,
  ): Promise<JudgeVerdict>;
  /** Reads the newest verdicts of a judge on runs: null for a run that it didn't judge, and always for a judge that was deleted. */
  verdictsOf(id: string): (runId: string) => RunVerdict | null;
  /** The verdict on an answer, and whether it counts. A verdict of the judge as it is isn't paid for twice. */
  judge(id: string, answer: JudgedAnswer, options: CheckOptions): Promise<CheckedVerdict>;
}

/** Judge runs of one calibration at a time. */
const parallel = 4;

function asLabel(verdict: StoredVerdict['verdict'], form: JudgeInput['verdict']): 'pass' | 'fail' | null {
  if (typeof verdict !== 'number') return verdict;
  return form.kind === 'score' && verdict >= form.passFrom ? 'pass' : 'fail';
}

function calibrationOf({ input }: Pick<StoredJudge, 'input'>, labels: readonly StoredLabel[]): JudgeCalibration {
  const answers = labels.map(({ isHeldOut, label, verdict }) => ({
    isHeldOut,
    label,
    verdict: verdict && asLabel(verdict.verdict, input.verdict),
    judgeHash: verdict?.judgeHash ?? null,
  }));
  return calibrate(answers, judgeHashOf(input));
}

function describe(store: JudgeStore, judge: StoredJudge): Judge {
  return {
    id: judge.id,
    ...judge.input,
    hash: judgeHashOf(judge.input),
    systemMessage: judgeSystemMessage,
    answerSchema: verdictSchema(judge.input.verdict),
    calibration: calibrationOf(judge, store.labels(judge.sequence)),
    createdAt: new Date(judge.createdAt).toISOString(),
    updatedAt: new Date(judge.updatedAt).toISOString(),
  };
}

function describeLabel(
  { input }: StoredJudge,
  { runId, isHeldOut, label, verdict, createdAt }: StoredLabel,
): JudgeLabel {
  return {
    runId,
    label,
    isHeldOut,
    verdict: verdict?.verdict ?? null,
    isStale: verdict !== null && verdict.judgeHash !== judgeHashOf(input),
    createdAt: new Date(createdAt).toISOString(),
  };
}

function runVerdicts(store: JudgeStore, { id, sequence, input }: StoredJudge): (runId: string) => RunVerdict | null {
  const judgeHash = judgeHashOf(input);
  const counts = calibrationOf({ input }, store.labels(sequence)).isCalibrated;
  return (runId) => {
    const found = store.verdict(sequence, runId);
    if (!found) return null;
    const label = asLabel(found.verdict, input.verdict);
    return {
      judgeId: id,
      judge: input.name,
      verdict: found.verdict,
      pass: label === null ? null : label === 'pass',
      counts,
      isStale: found.judgeHash !== judgeHash,
      runId: found.judgeRunId,
    };
  };
}

/** Whether the values of a run are all that the prompt has. Columns with expected values are known in a comparison only. */
function hasValues({ promptText }: JudgeInput, row: CheckedRow): boolean {
  return parseTemplate(promptText).variables.every(
    ({ kind, name }) => kind === 'condition' || name === 'answer' || Object.hasOwn(row, name.split('.')[0]!),
  );
}

function requirePassOrScore({ input }: StoredJudge): void {
  if (input.verdict.kind !== 'preference') return;
  throw new AppError(
    'invalid_request',
    'A judge of preferences compares two answers. It has no labels and no calibration.',
  );
}

/** Resolves when all answers have verdicts. After a failure the others aren't judged, because most would fail, too. */
async function judgeAll(
  judgeOne: (answer: JudgedAnswer, signal: AbortSignal) => Promise<unknown>,
  answers: readonly JudgedAnswer[],
  outer: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const mutex = createMutex(() => undefined, { concurrency: parallel });
  const calls = answers.map(async (answer) => {
    const release = await mutex.take({ signal });
    try {
      await judgeOne(answer, signal);
    } catch (error) {
      failed.abort(error);
    } finally {
      release();
    }
  });
  await Promise.allSettled(calls);
  signal.throwIfAborted();
}

export interface JudgesOptions extends VerdictRunsOptions, Pick<ReadyOptions, 'payingKeys' | 'pauses'> {
  readonly providers: Pick<Providers, 'resolve'>;
}

export function createJudges(options: JudgesOptions): Judges {
  const { store, completions } = options;
  const verdicts = createVerdictRuns(options);

  /** Waits for the limits of the provider and of the key, which is read again each time: it may have been revoked. */
  async function judgeOnce(judge: StoredJudge, answer: JudgedAnswer, { origin, signal }: JudgeOptions) {
    const found = verdicts.find(judge, answer.runId);
    if (found) return found;
    const { servedBy } = options.providers.resolve(judge.input.aiSystem, judge.input.model);
    return callWhenReady(providerOf(servedBy), origin, { ...options, signal }, (payer) =>
      verdicts.judge(judge, answer, { origin: payer, signal }),
    );
  }

  function readable(runId: string, reader: FileReader): JudgedAnswer[] {
    try {
      return [verdicts.readAnswer(runId, 'runId', reader)];
    } catch (error) {
      // Deleted since it was labelled, or the run of another caller.
      if (error instanceof AppError) return [];
      throw error;
    }
  }

  return {
    list(query) {
      const { data, continuationToken } = store.list(query);
      return { data: data.map((judge) => describe(store, judge)), continuationToken };
    },
    read: (id) => describe(store, store.read(id)),
    exists: store.exists,
    familyWarning: (id, variants) => (store.exists(id) ? sameFamilyWarning(store.read(id).input, variants) : null),
    create(input) {
      requireValidJudge(input);
      return describe(store, store.create(input));
    },
    update(id, input) {
      requireValidJudge(input);
      return describe(store, store.update(id, input));
    },
    remove: store.remove,
    labels(id) {
      const judge = store.read(id);
      return store.labels(judge.sequence).map((label) => describeLabel(judge, label));
    },
    setLabel(id, runId, label, reader) {
      const judge = store.read(id);
      requirePassOrScore(judge);
      if (label === null) store.removeLabel(judge.sequence, runId.toLowerCase());
      else {
        const answer = verdicts.readAnswer(runId, 'runId', reader);
        const labels = store.labels(judge.sequence);
        if (labels.length >= maxLabels && !labels.some((other) => other.runId === answer.runId)) {
          throw new AppError('invalid_request', `The judge has ${maxLabels} labels, and can't have more.`);
        }
        store.setLabel(judge.sequence, { runId: answer.runId, isHeldOut: answer.isHeldOut, label });
      }
      return describe(store, judge);
    },
    async calibrate(id, reader, { origin, signal: outer }) {
      const judge = store.read(id);
      requirePassOrScore(judge);
      const answers = store
        .labels(judge.sequence)
        .flatMap(({ runId }) => readable(runId, reader))
        .filter(({ row }) => hasValues(judge.input, row));
      await judgeAll((answer, signal) => judgeOnce(judge, answer, { origin, signal }), answers, outer);
      return describe(store, store.read(id));
    },
    async judgeRuns(id, [runId, otherRunId], reader, judgeOptions) {
      const judge = store.read(id);
      const first = verdicts.readAnswer(runId, 'runId', reader);
      if (judge.input.verdict.kind !== 'preference') {
        if (otherRunId !== undefined) throw invalidField('otherRunId', 'is only for a judge of preferences');
        return verdicts.judge(judge, first, judgeOptions);
      }
      if (otherRunId === undefined) throw invalidField('otherRunId', 'is required for a judge of preferences');
      const second = verdicts.readAnswer(otherRunId, 'otherRunId', reader);
      const metadata = { judgeId: judge.id, judgedRunId: first.runId, otherRunId: second.runId };
      const call = { judge: judge.input, row: first.row, metadata, ...judgeOptions };
      return judgePreference(completions, call, first.answer, second.answer);
    },
    verdictsOf: (id) => (store.exists(id) ? runVerdicts(store, store.read(id)) : () => null),
    async judge(id, answer, { origin, signal }) {
      const judge = store.read(id);
      requirePassOrScore(judge);
      const verdict = origin ? await judgeOnce(judge, answer, { origin, signal }) : verdicts.find(judge, answer.runId);
      if (!verdict) throw new NotJudged('Touchstone closed before the judge was asked');
      const cost = verdicts.costOf(verdict);
      return { ...verdict, cost, counts: calibrationOf(judge, store.labels(judge.sequence)).isCalibrated };
    },
  };
}
