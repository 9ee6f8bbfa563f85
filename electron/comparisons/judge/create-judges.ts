import { AppError } from '../../../shared/app-error.ts';
import type { Judge, JudgeInput, JudgeLabel, JudgeVerdict } from '../../../shared/contract/judges.ts';
import type { RunOrigin } from '../../completions/completions.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { JudgeStore, StoredJudge } from '../../storage/judge-store.ts';
import type { ListPage, ListQuery } from '../../storage/list-page.ts';
import { NotJudged } from '../checks/expected.ts';
import { providerOf } from '../../providers/provider-pauses.ts';
import type { CurrentVerdicts } from '../../storage/comparison-cells.ts';
import { callWhenReady } from '../call-limits.ts';
import { asLabel, calibrationOf } from './calibration.ts';
import { type NamedModel, sameFamilyWarning } from './model-family.ts';
import { judgeSystemMessage, requireValidJudge } from './run-judge.ts';
import { createJudgeLabels, type JudgeLabels, type LabelInput } from './labels.ts';
import { createPairJudges } from './pair-judge.ts';
import {
  createVerdictRuns,
  type JudgedAnswer,
  type JudgeOptions,
  type JudgesOptions,
  type JudgingOptions,
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

/** How the answer of a run compares with that of another, for a judge. Stale if the judge has changed since. */
export interface JudgedPreference {
  readonly judge: string;
  readonly otherRunId: string;
  readonly outcome: 'better' | 'worse' | 'tie';
  readonly isStale: boolean;
  /** Whether the judge is calibrated. */
  readonly counts: boolean;
}

/** Methods with an id throw `not_found`. A reader is the caller, who may judge and label the runs that it may read. */
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
  /** As `JudgeLabels.set`. */
  setLabel(id: string, label: Parameters<JudgeLabels['set']>[1], reader: FileReader): Judge;
  /** As `JudgeLabels.add`. */
  addLabels(id: string, labels: readonly LabelInput[], reader: FileReader): number;
  removeLabels(id: string): Judge;
  /** Judges what is labelled and has no verdict. */
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
  /** Reads what judges of preferences, as they are now, said of the answer of a run and those of others. */
  readPreferences(): (runId: string) => JudgedPreference[];
  /** The verdict on an answer, and whether it counts. A verdict of the judge as it is isn't paid for twice. */
  judge(id: string, answer: JudgedAnswer, options: CheckOptions): Promise<CheckedVerdict>;
}

function describe(store: JudgeStore, judge: StoredJudge): Judge {
  return {
    id: judge.id,
    ...judge.input,
    hash: judgeHashOf(judge.input),
    systemMessage: judgeSystemMessage,
    answerSchema: verdictSchema(judge.input.verdict),
    calibration: calibrationOf(store, judge),
    createdAt: new Date(judge.createdAt).toISOString(),
    updatedAt: new Date(judge.updatedAt).toISOString(),
  };
}

function currentVerdicts(store: JudgeStore, judge: StoredJudge): CurrentVerdicts {
  const counts = calibrationOf(store, judge).isCalibrated;
  return { judge: judge.sequence, hash: judgeHashOf(judge.input), counts };
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

function requirePassOrScore({ input }: StoredJudge): void {
  if (input.verdict.kind !== 'preference') return;
  throw new AppError('invalid_request', 'A judge of preferences compares two answers. It is no check of one.');
}

/** Reads each judge once. */
function preferenceReader(store: JudgeStore): (runId: string) => JudgedPreference[] {
  const current = new Map<number, CurrentVerdicts>();
  function currentOf(judge: StoredJudge): CurrentVerdicts {
    const found = current.get(judge.sequence) ?? currentVerdicts(store, judge);
    current.set(judge.sequence, found);
    return found;
  }
  return (runId) =>
    store.preferencesOf(runId).map(({ judge, preference }) => {
      const isFirst = preference.runId === runId;
      const isTie = preference.verdict === 'tie';
      const { hash, counts } = currentOf(judge);
      return {
        judge: judge.input.name,
        otherRunId: isFirst ? preference.otherRunId : preference.runId,
        outcome: isTie ? 'tie' : (preference.verdict === 'first') === isFirst ? 'better' : 'worse',
        isStale: preference.judgeHash !== hash,
        counts,
      };
    });
}

/** Waits for the limits of the provider and of the key, which is read again each time: it may have been revoked. */
async function judgeWithin(
  { providers, limits }: JudgesOptions,
  verdicts: ReturnType<typeof createVerdictRuns>,
  judge: StoredJudge,
  answer: JudgedAnswer,
  { origin, signal, concurrency, asksAgain = false, onCost }: JudgeOptions & JudgingOptions,
) {
  const found = verdicts.find(judge, answer.runId);
  if (found && !(asksAgain && found.verdict === null)) return found;
  const { servedBy } = providers.resolve(judge.input.aiSystem, judge.input.model);
  const call = { provider: providerOf(servedBy), origin, signal, concurrency };
  const verdict = await callWhenReady(limits, call, (payer) => verdicts.ask(judge, answer, { origin: payer, signal }));
  onCost?.(verdicts.costOf(verdict) ?? 0);
  return verdict;
}

export function createJudges(options: JudgesOptions): Judges {
  const { store } = options;
  const verdicts = createVerdictRuns(options);

  const judgeOnce = (judge: StoredJudge, answer: JudgedAnswer, more: JudgeOptions & JudgingOptions) =>
    judgeWithin(options, verdicts, judge, answer, more);
  const labels = createJudgeLabels({ store, verdicts, judgeOnce, findPairJudge: createPairJudges(options) });

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
    labels: (id) => labels.list(store.read(id)),
    setLabel(id, label, reader) {
      const judge = store.read(id);
      labels.set(judge, label, reader);
      return describe(store, judge);
    },
    addLabels: (id, added, reader) => labels.add(store.read(id), added, reader),
    removeLabels(id) {
      const judge = store.read(id);
      store.removeLabels(judge.sequence);
      return describe(store, judge);
    },
    async calibrate(id, reader, judgeOptions) {
      await labels.judge(store.read(id), reader, judgeOptions);
      return describe(store, store.read(id));
    },
    judgeRuns: async (id, runIds, reader, judgeOptions) =>
      verdicts.judgeRuns(store.read(id), runIds, reader, judgeOptions),
    readPreferences: () => preferenceReader(store),
    verdictsOf: (id) => (store.exists(id) ? runVerdicts(store, store.read(id)) : () => null),
    currentOf: (id) => (store.exists(id) ? { judgeId: id, ...currentVerdicts(store, store.read(id)) } : null),
    async judge(id, answer, { origin, ...rest }) {
      const judge = store.read(id);
      requirePassOrScore(judge);
      const verdict = origin ? await judgeOnce(judge, answer, { origin, ...rest }) : verdicts.find(judge, answer.runId);
      if (!verdict) throw new NotJudged('The comparison stopped before the judge was asked');
      const cost = verdicts.costOf(verdict);
      return { ...verdict, cost, counts: calibrationOf(store, judge).isCalibrated };
    },
  };
}
