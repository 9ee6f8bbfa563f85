import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { runsTheSame, type RunSettings } from '../../shared/prompt-version-match.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { DraftRuns } from '../storage/prompts/draft-runs.ts';

/** Runs read in one transaction: a few milliseconds. */
const sliceRuns = 100;

interface CountOptions {
  readonly store: DraftRuns;
  readonly isSame: (run: RunSettings) => boolean;
  readonly slice?: number;
}

/** Makes a draft's runs that sent the same as a version runs of that version. Returns how many; other requests are answered in between. */
export async function countDraftRuns(
  draftId: string,
  version: PromptVersion,
  { store, isSame, slice = sliceRuns }: CountOptions,
): Promise<number> {
  let count = 0;
  for (let after: number | null = 0; after !== null;) {
    const { claimed, next } = store.claimSome({ draftId, version, isSame, after, limit: slice });
    count += claimed;
    after = next;
    if (after !== null) await nextTurn();
  }
  return count;
}

/** Whether a run sent what a version sends: parameters that the model doesn't support are sent by neither. */
export function sameAs(
  version: PromptVersion,
  providers: Pick<Providers, 'resolve' | 'applicableConfiguration'>,
): (run: RunSettings) => boolean {
  const sent = (settings: RunSettings): RunSettings => {
    const { aiSystem, model, configuration } = settings;
    if (!aiSystem || !model || !configuration) return settings;
    try {
      const target = providers.resolve(aiSystem, model);
      return { ...settings, configuration: providers.applicableConfiguration(target, configuration).configuration };
    } catch {
      // The model or its key is gone: compare what was asked for.
      return settings;
    }
  };
  const wanted = sent(version);
  return (run) => runsTheSame(sent(run), wanted);
}
