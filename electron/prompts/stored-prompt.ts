import type { CompletionRequest, Configuration } from '../../shared/contract/completions.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { runsTheSame, type RunSettings } from '../../shared/prompt-content.ts';

/** The version that made a run. */
export interface StoredPromptIds {
  readonly promptId: string;
  readonly promptVersionId: string;
}

/** Returns the part of a configuration that the model supports. */
export type ApplicablePart = (configuration: Configuration) => Readonly<Record<string, unknown>>;

/**
 * The version in `metadata.promptVersionId` of a request, if the request has the same content. Null for an edited request, whose metadata
 * still name the version that it is based on.
 */
export function storedPromptOf(
  { metadata, ...request }: CompletionRequest,
  findVersion: (versionId: string) => PromptVersion | null,
  applicable: ApplicablePart,
): StoredPromptIds | null {
  const claimed = metadata?.['promptVersionId'];
  const version = typeof claimed === 'string' ? findVersion(claimed) : null;
  if (version === null) return null;
  // Clients may leave out parameters that the model doesn't support, as the service does.
  const asSent = (settings: RunSettings) => ({ ...settings, configuration: applicable(settings.configuration ?? {}) });
  if (!runsTheSame(asSent(request), asSent(version))) return null;
  return { promptId: version.promptId, promptVersionId: version.id };
}
