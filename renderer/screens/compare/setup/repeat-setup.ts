import type { QueryClient } from '@tanstack/react-query';
import { type Comparison, readComparison } from '../../../../shared/contract/comparisons.ts';
import { readPrompt, type PromptVersion } from '../../../../shared/contract/prompts.ts';
import { runsTheSame } from '../../../../shared/prompt-content.ts';
import { writeParameters } from '../../../drafts/parameter-model.ts';
import type { Client } from '../../../host/client.ts';
import { promptVersionOptions } from '../../../queries/prompts.ts';
import type { SetupChange, VariantDraft } from '../../../stores/comparison-drafts.ts';
import { writeSetup } from './setup-draft.ts';

type ShownVariant = Comparison['variants'][number];

/** Whether the variant has the model and the parameters of its version, so that a newer version replaces them, too. */
function isAsVersion({ aiSystem, model, configuration }: ShownVariant, version: PromptVersion): boolean {
  const own = { ...version, aiSystem: version.aiSystem ?? aiSystem, model: version.model ?? model };
  return runsTheSame({ ...own, aiSystem, model, configuration: configuration ?? {} }, own);
}

/**
 * The variant on the newest version of its prompt. Of two variants with versions of one prompt, only that with the newer version moves:
 * both on the newest one would be the same.
 */
function onNewest(
  variant: VariantDraft,
  shown: ShownVariant,
  before: PromptVersion,
  newest: PromptVersion,
): VariantDraft {
  return {
    ...variant,
    prompt: { kind: 'version', promptId: newest.promptId, versionId: newest.id },
    ...(isAsVersion(shown, before) && {
      ...writeParameters(newest.configuration),
      ...(newest.model !== null && { model: newest.model, aiSystem: newest.aiSystem ?? 'ServiceAi' }),
    }),
  };
}

/** A setup that repeats a comparison over the newest version of its dataset with the newest versions of its prompts. */
export async function repeatedSetup(client: Client, queryClient: QueryClient, id: string): Promise<SetupChange> {
  const comparison = await client.call(readComparison, { parameters: { id } });
  const { id: _id, updatedAt: _updatedAt, ...setup } = writeSetup(comparison);
  const newestUsed = new Map<string, number>();
  for (const { promptId, versionNumber } of comparison.variants) {
    if (promptId !== null) newestUsed.set(promptId, Math.max(newestUsed.get(promptId) ?? 0, versionNumber ?? 0));
  }
  const variants = await Promise.all(
    setup.variants.map(async (variant, index) => {
      const shown = comparison.variants[index]!;
      const { promptId, promptVersionId, versionNumber } = shown;
      if (promptId === null || promptVersionId === null || newestUsed.get(promptId) !== versionNumber) return variant;
      try {
        const { latestVersionId } = await client.call(readPrompt, { parameters: { id: promptId } });
        const [before, newest] = await Promise.all(
          [promptVersionId, latestVersionId].map((versionId) =>
            queryClient.fetchQuery(promptVersionOptions(client, promptId, versionId)),
          ),
        );
        return onNewest(variant, shown, before!, newest!);
      } catch {
        // The prompt was deleted. Its versions still run.
        return variant;
      }
    }),
  );
  return { ...setup, variants, datasetVersion: null, basedOn: id };
}
