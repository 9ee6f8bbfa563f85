import { invalidField } from '../../../shared/app-error.ts';
import type { JudgeCalibration } from '../../../shared/contract/judges.ts';
import { providerOf } from '../../providers/provider-pauses.ts';
import type { FileReader } from '../../storage/file-store.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import type { StoredPreference } from '../../storage/judge-store.ts';
import { callWhenReady } from '../call-limits.ts';
import { missingVariables } from '../cell-request.ts';
import type { CheckedRow } from '../checks/expected.ts';
import { calibrationOf } from './calibration.ts';
import { type NamedModel, sameFamilyWarning } from './model-family.ts';
import { createVerdictRuns, type JudgeOptions, type JudgesOptions, type JudgingOptions } from './verdict-runs.ts';
import { judgeHashOf } from './verdicts.ts';

/** The runs of two answers of a row. */
type RunPair = readonly [runId: string, otherRunId: string];

/** A judge of preferences, as it is now. */
export interface PairJudge {
  readonly name: string;
  readonly calibration: JudgeCalibration;
  /** Null without a variant of the judge's family. */
  warning(variants: readonly NamedModel[]): string | null;
  /** Whether a row has a value for each variable of the prompt; without, the judge would be asked about nothing. */
  canJudge(row: CheckedRow): boolean;
  /** What it preferred, and whether it has changed since; null if it wasn't asked or gave no verdict. */
  find(runIds: RunPair): { readonly verdict: StoredPreference['verdict']; readonly isStale: boolean } | null;
  /** Of the first answer. Throws as `ask` for runs that the reader can't read. */
  rowOf(runIds: RunPair, reader: FileReader): { readonly row: CheckedRow; readonly isHeldOut: boolean };
  /**
   * Asks it in both orders, when the limits allow it. Throws `not_found` for runs that the reader can't read, and as a completion does.
   */
  ask(
    runIds: RunPair,
    row: CheckedRow,
    options: JudgeOptions & JudgingOptions & { readonly reader: FileReader },
  ): Promise<void>;
}

/** Finds judges of preferences. Throws `invalid_request` with `judgeId` for any other. */
export function createPairJudges({ store, limits, providers, ...runs }: JudgesOptions): (id: string) => PairJudge {
  const verdicts = createVerdictRuns({ store, ...runs });
  const answersOf = ([runId, otherRunId]: RunPair, reader: FileReader) =>
    [verdicts.readAnswer(runId, 'runId', reader), verdicts.readAnswer(otherRunId, 'otherRunId', reader)] as const;
  return (id) => {
    if (!store.exists(id)) throw invalidField('judgeId', 'is not a judge');
    const judge = store.read(id);
    const { input, sequence } = judge;
    if (input.verdict.kind !== 'preference') throw invalidField('judgeId', 'is not a judge of preferences');
    const hash = judgeHashOf(input);
    const template = parseTemplate(input.promptText);
    return {
      canJudge: (row) => missingVariables(template, { ...row, first: '', second: '' }).length === 0,
      name: input.name,
      calibration: calibrationOf(store, judge),
      warning: (variants) => sameFamilyWarning(input, variants),
      find([runId, otherRunId]) {
        const found = store.preference(sequence, runId, otherRunId);
        return found && { verdict: found.verdict, isStale: found.judgeHash !== hash };
      },
      rowOf(runIds, reader) {
        const [{ row, isHeldOut }] = answersOf(runIds, reader);
        return { row, isHeldOut };
      },
      async ask(runIds, row, { reader, origin, signal, concurrency, onCost }) {
        const [first, second] = answersOf(runIds, reader);
        const { servedBy } = providers.resolve(input.aiSystem, input.model);
        const call = { provider: providerOf(servedBy), origin, signal, concurrency };
        await verdicts.askPair(
          judge,
          [
            { ...first, row },
            { ...second, row },
          ],
          {
            origin,
            signal,
            async callOnce(once) {
              const found = await callWhenReady(limits, call, once);
              onCost?.(verdicts.costOf({ runIds: [found.runId] }) ?? 0);
              return found;
            },
          },
        );
      },
    };
  };
}
