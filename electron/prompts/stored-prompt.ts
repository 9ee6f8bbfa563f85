import type { CompletionRequest, Configuration } from '../../shared/contract/completions.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { runsTheSame, type RunSettings } from '../../shared/prompt-content.ts';

/** The version that made a run. */
export interface StoredPromptIds {
  readonly promptId: string;
  readonly promptVersionId: string;
}

/** Of a configuration, what the model takes. */
export type ApplicablePart = (configuration: Configuration) => Readonly<Record<string, unknown>>;

/**
 * The version that a request says it was made from (`metadata.promptVersionId`), if it is that version unchanged. Null for one that was
 * edited: its metadata still say what it is based on, but what ran is not what was kept.
 */
export function storedPromptOf(
  { metadata, ...request }: CompletionRequest,
  findVersion: (versionId: string) => PromptVersion | null,
  applicable: ApplicablePart,
): StoredPromptIds | null {
  const claimed = metadata?.['promptVersionId'];
  const version = typeof claimed === 'string' ? findVersion(claimed) : null;
  if (version === null) return null;
  // A client may leave out what the model does not take, as the service itself does.
  const asSent = (settings: RunSettings) => ({ ...settings, configuration: applicable(settings.configuration ?? {}) });
  if (!runsTheSame(asSent(request), asSent(version))) return null;
  return { promptId: version.promptId, promptVersionId: version.id };
}
