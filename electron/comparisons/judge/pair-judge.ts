import { invalidField } from '../../../shared/app-error.ts';
import { providerOf } from '../../providers/provider-pauses.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { StoredPreference } from '../../storage/judge-store.ts';
import { callWhenReady } from '../call-limits.ts';
import type { CheckedRow } from '../checks/expected.ts';
import { kindOfFailure } from '../run-cell.ts';
import type { JudgesOptions } from './create-judges.ts';
import { type NamedModel, sameFamilyWarning } from './model-family.ts';
import { createVerdictRuns, type JudgeOptions, type JudgingOptions } from './verdict-runs.ts';
import { judgeHashOf } from './verdicts.ts';

/** The runs of two answers of a row. */
type RunPair = readonly [runId: string, otherRunId: string];

/** A judge of preferences, as it is now. */
export interface PairJudge {
  readonly name: string;
  /** Null without a variant of the judge's family. */
  warning(variants: readonly NamedModel[]): string | null;
  /** What it preferred, and whether it has changed since; null if it wasn't asked or gave no verdict. */
  find(runIds: RunPair): { readonly verdict: StoredPreference['verdict']; readonly isStale: boolean } | null;
  /**
   * Asks it in both orders, when the limits allow it. Returns the cost in US dollars, 0 if a price is unknown; null if the provider
   * failed. Throws for runs that the reader can't read, and for failures that every pair would have.
   */
  ask(
    runIds: RunPair,
    row: CheckedRow,
    options: JudgeOptions & JudgingOptions & { readonly reader: FileReader },
  ): Promise<number | null>;
}

/** Finds judges of preferences. Throws `invalid_request` with `judgeId` for any other. */
export function createPairJudges({ store, limits, providers, ...runs }: JudgesOptions): (id: string) => PairJudge {
  const verdicts = createVerdictRuns({ store, ...runs });
  return (id) => {
    if (!store.exists(id)) throw invalidField('judgeId', 'is not a judge');
    const judge = store.read(id);
    const { input, sequence } = judge;
    if (input.verdict.kind !== 'preference') throw invalidField('judgeId', 'is not a judge of preferences');
    const hash = judgeHashOf(input);
    return {
      name: input.name,
      warning: (variants) => sameFamilyWarning(input, variants),
      find([runId, otherRunId]) {
        const found = store.preference(sequence, runId, otherRunId);
        return found && { verdict: found.verdict, isStale: found.judgeHash !== hash };
      },
      async ask([runId, otherRunId], row, { reader, origin, signal, concurrency }) {
        const [first, second] = [
          verdicts.readAnswer(runId, 'variants', reader),
          verdicts.readAnswer(otherRunId, 'variants', reader),
        ];
        const { servedBy } = providers.resolve(input.aiSystem, input.model);
        const call = { provider: providerOf(servedBy), origin, signal, concurrency };
        try {
          const verdict = await verdicts.askPair(
            judge,
            [
              { ...first, row },
              { ...second, row },
            ],
            { origin, signal, callOnce: (once) => callWhenReady(limits, call, once) },
          );
          return verdicts.costOf(verdict) ?? 0;
        } catch (error) {
          if (signal.aborted || kindOfFailure(error) === 'stopping') throw error;
          return null;
        }
      },
    };
  };
}
