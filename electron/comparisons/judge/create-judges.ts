import { AppError } from '../../../shared/app-error.ts';
import {
  type Judge,
  type JudgeCalibration,
  type JudgeInput,
  type JudgeLabel,
  type JudgeVerdict,
  maxLabels,
} from '../../../shared/contract/judges.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import type { RunOrigin } from '../../completions/completions.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { JudgeStore, StoredJudge, StoredLabel, StoredVerdict } from '../../storage/judge-store.ts';
import type { ListPage, ListQuery } from '../../storage/list-page.ts';
import { type CheckedRow, NotJudged } from '../checks/expected.ts';
import type { Providers } from '../../providers/create-providers.ts';
import { providerOf } from '../../providers/provider-pauses.ts';
import type { CurrentVerdicts } from '../../storage/comparison-cells.ts';
import { type CallLimits, callWhenReady } from '../call-limits.ts';
import { calibrate } from './calibration.ts';
import { type NamedModel, sameFamilyWarning } from './model-family.ts';
import { judgeSystemMessage, requireValidJudge } from './run-judge.ts';
import {
  createVerdictRuns,
  judgeAll,
  type JudgedAnswer,
  type JudgeOptions,
  type JudgingOptions,
  parallel,
  type VerdictRunsOptions,
} from './verdict-runs.ts';
import { judgeHashOf, verdictSchema } from './verdicts.ts';

/** With a null origin only an earlier verdict is used. */
interface CheckOptions extends Omit<JudgeOptions, 'origin'>, JudgingOptions {
  readonly origin: RunOrigin | null;
}

/** Tells the verdicts of a judge as it is from others. */
interface CurrentJudge extends CurrentVerdicts {
  readonly judgeId: string;
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
/** How the answer of a run compares with that of another, for a judge. Stale if the judge has changed since. */
export interface JudgedPreference {
  readonly judge: string;
  readonly otherRunId: string;
  readonly outcome: 'better' | 'worse' | 'tie';
  readonly isStale: boolean;
}

export interface Judges {
  /** Newest first. */
  list(query: ListQuery): ListPage<Judge>;
  read(id: string): Judge;
  exists(id: string): boolean;
  /** Null for an unknown judge. */
  kindOf(id: string): JudgeInput['verdict']['kind'] | null;
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
  /** Null for a judge that was deleted. */
  currentOf(id: string): CurrentJudge | null;
  /** What judges of preferences said of the answer of a run and those of others. */
  preferencesOf(runId: string): JudgedPreference[];
  /** The verdict on an answer, and whether it counts. A verdict of the judge as it is isn't paid for twice. */
  judge(id: string, answer: JudgedAnswer, options: CheckOptions): Promise<CheckedVerdict>;
}

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

function currentVerdicts(store: JudgeStore, { sequence, input }: StoredJudge): CurrentVerdicts {
  const counts = calibrationOf({ input }, store.labels(sequence)).isCalibrated;
  return { judge: sequence, hash: judgeHashOf(input), counts };
}

function runVerdicts(store: JudgeStore, judge: StoredJudge): (runId: string) => RunVerdict | null {
  const { id, sequence, input } = judge;
  const { hash, counts } = currentVerdicts(store, judge);
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
      isStale: found.judgeHash !== hash,
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

export interface JudgesOptions extends VerdictRunsOptions {
  readonly limits: CallLimits;
  readonly providers: Pick<Providers, 'resolve'>;
}

function preferencesOf(store: JudgeStore, runId: string): JudgedPreference[] {
  return store.preferencesOf(runId).map(({ judge, preference }) => {
    const isFirst = preference.runId === runId;
    const isTie = preference.verdict === 'tie';
    return {
      judge: judge.input.name,
      otherRunId: isFirst ? preference.otherRunId : preference.runId,
      outcome: isTie ? 'tie' : (preference.verdict === 'first') === isFirst ? 'better' : 'worse',
      isStale: preference.judgeHash !== judgeHashOf(judge.input),
    };
  });
}

export function createJudges(options: JudgesOptions): Judges {
  const { store } = options;
  const verdicts = createVerdictRuns(options);

  /** Waits for the limits of the provider and of the key, which is read again each time: it may have been revoked. */
  async function judgeOnce(
    judge: StoredJudge,
    answer: JudgedAnswer,
    { origin, signal, concurrency, asksAgain = false }: JudgeOptions & JudgingOptions,
  ) {
    const found = verdicts.find(judge, answer.runId);
    if (found && !(asksAgain && found.verdict === null)) return found;
    const { servedBy } = options.providers.resolve(judge.input.aiSystem, judge.input.model);
    const call = { provider: providerOf(servedBy), origin, signal, concurrency };
    return callWhenReady(options.limits, call, (payer) => verdicts.ask(judge, answer, { origin: payer, signal }));
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
    kindOf: (id) => (store.exists(id) ? store.read(id).input.verdict.kind : null),
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
      await judgeAll(
        (answer, signal) => judgeOnce(judge, answer, { origin, signal, concurrency: parallel }),
        answers,
        outer,
      );
      return describe(store, store.read(id));
    },
    judgeRuns: async (id, runIds, reader, judgeOptions) =>
      verdicts.judgeRuns(store.read(id), runIds, reader, judgeOptions),
    preferencesOf: (runId) => preferencesOf(store, runId),
    verdictsOf: (id) => (store.exists(id) ? runVerdicts(store, store.read(id)) : () => null),
    currentOf: (id) => (store.exists(id) ? { judgeId: id, ...currentVerdicts(store, store.read(id)) } : null),
    async judge(id, answer, { origin, ...rest }) {
      const judge = store.read(id);
      requirePassOrScore(judge);
      const verdict = origin ? await judgeOnce(judge, answer, { origin, ...rest }) : verdicts.find(judge, answer.runId);
      if (!verdict) throw new NotJudged('Touchstone closed before the judge was asked');
      const cost = verdicts.costOf(verdict);
      return { ...verdict, cost, counts: calibrationOf(judge, store.labels(judge.sequence)).isCalibrated };
    },
  };
}
