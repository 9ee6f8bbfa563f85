import { readPrompt, readPromptVersion, type Prompt, type PromptVersion } from '../../../../shared/contract/prompts.ts';
import type { Client } from '../../../host/client.ts';
import { useDrafts, type Draft, type DraftChange } from '../../../stores/playground-drafts.ts';
import { useLiveRuns } from '../../../stores/playground-runs.ts';
import { showToast } from '../../../stores/toasts.ts';
import { versionChange } from '../../../drafts/draft-version.ts';

function openIn(draft: Draft, prompt: Prompt, version: PromptVersion, change: DraftChange): void {
  const { id: _id, updatedAt: _updatedAt, ...contents } = draft;
  const live = useLiveRuns.getState().live[draft.id];
  // A run that never got an id would go on standing in front of what is opened.
  if (live && live.runId === null) useLiveRuns.getState().dismiss(draft.id);
  useDrafts.getState().change(draft.id, change);
  showToast({
    tone: 'neutral',
    text: `Opened version ${version.number} of "${prompt.name}".`,
    action: { label: 'Undo', run: () => useDrafts.getState().change(draft.id, contents) },
  });
}

export interface VersionToOpen {
  promptId: string;
  versionId: string;
  /** Of the version's provider, in place of its own model. */
  model: string | null;
}

/**
 * Opens a version in the draft of its prompt, so that a prompt has one draft and one history, and gives that draft's id. A draft
 * that came from the same version is opened as it stands. Throws `AppError` for what the host does not have.
 */
export async function openVersion(
  client: Client,
  { promptId, versionId, model }: VersionToOpen,
  { signal }: { signal: AbortSignal },
): Promise<string> {
  const [prompt, version] = await Promise.all([
    client.call(readPrompt, { parameters: { id: promptId }, signal }),
    client.call(readPromptVersion, { parameters: { id: promptId, versionId }, signal }),
  ]);
  signal.throwIfAborted();
  const { drafts, create, activate } = useDrafts.getState();
  const draft = drafts.find(({ source }) => source?.promptId === prompt.id);
  const change = versionChange(version, draft?.values ?? {});
  if (model !== null) change.model = model;
  if (!draft) return create({ name: prompt.name, ...change });
  if (draft.source?.versionId !== version.id || model !== null) openIn(draft, prompt, version, change);
  activate(draft.id);
  return draft.id;
}
