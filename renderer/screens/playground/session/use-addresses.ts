import { useEffectEvent, useLayoutEffect } from 'react';
import { useLocation } from 'wouter';
import { AppError } from '../../../../shared/app-error.ts';
import { aiSystem } from '../../../../shared/contract/common.ts';
import { missingMessages } from '../../../../shared/continued-field.ts';
import { readRun, type RunDetail } from '../../../../shared/contract/runs.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { formatTime } from '../../../components/format.ts';
import { useHost } from '../../../host/host-context.tsx';
import type { Client } from '../../../host/client.ts';
import { draftAddress } from '../../../shell/addresses.ts';
import { useNavigateFromHere } from '../../../shell/navigate-from-here.ts';
import { rememberModel } from '../../../stores/model-choices.ts';
import { type Draft, type DraftChange, useDrafts } from '../../../stores/playground-drafts.ts';
import { draftSlot } from '../../../stores/completion-runs.ts';
import { dismissRun, useLiveRuns } from '../../../stores/live-runs.ts';
import { showToast } from '../../../stores/toasts.ts';
import { restoredDraft } from './run-request.ts';
import { type Prompt, type PromptVersion, readPrompt, readPromptVersion } from '../../../../shared/contract/prompts.ts';
import { versionChange } from '../../../drafts/draft-version.ts';

function openIn(draft: Draft, prompt: Prompt, version: PromptVersion, change: DraftChange): void {
  const live = useLiveRuns.getState().runs[draftSlot(draft.id)];
  // A run without an id would stay on the screen instead of the opened version.
  if (live && live.runId === null) dismissRun(draftSlot(draft.id));
  const { change: changeDraft, replace } = useDrafts.getState();
  changeDraft(draft.id, change);
  showToast({
    tone: 'neutral',
    text: `Opened version ${version.number} of "${prompt.name}".`,
    action: { label: 'Undo', run: () => replace(draft) },
  });
}

interface VersionToOpen {
  promptId: string;
  versionId: string;
  /** Of the version's provider, in place of its own model. */
  model: string | null;
}

/**
 * Opens a version in the draft of its prompt, so that a prompt has one draft and one history. Returns the draft's id. A draft of the
 * same version is opened with its edits. Throws `AppError` if the host doesn't have the version.
 */
async function openVersion(
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
  const change = versionChange(version, draft);
  if (model !== null) change.model = model;
  if (!draft) return create({ name: prompt.name, ...change });
  if (draft.source?.versionId !== version.id || model !== null) openIn(draft, prompt, version, change);
  activate(draft.id);
  return draft.id;
}

/** What an address of the playground opens. */
export type Target =
  | { kind: 'draft'; draftId: string }
  | { kind: 'run'; runId: string }
  | { kind: 'model'; aiSystem: string; model: string }
  /** A version of a stored prompt. `model` of the same provider replaces the version's model. */
  | { kind: 'version'; promptId: string; versionId: string; model: string | null }
  | { kind: 'newest' };

/** Decodes a part of an address. A part that isn't encoded, such as a model named `50%`, is returned unchanged. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Null for an address of another screen: this screen may render once more while the other one loads. */
export function readTarget(location: string): Target | null {
  if (!/^\/playground(\/|$)/.test(location)) return null;
  const [first, second, third, fourth] = location
    .replace(/^\/playground\/?/, '')
    .split('/')
    .map(decodePart);
  if ((first === 'runs' || first === 'run') && second) return { kind: 'run', runId: second };
  if (first === 'models' && second && third) return { kind: 'model', aiSystem: second, model: third };
  if (first === 'prompts' && second && third) {
    return { kind: 'version', promptId: second, versionId: third, model: fourth || null };
  }
  return first ? { kind: 'draft', draftId: first } : { kind: 'newest' };
}

/** The draft that restores a run: the one it came from, or a new one for runs of API clients. */
function draftFor(run: RunDetail): { draftId: string; isNew: boolean } {
  const { drafts, create } = useDrafts.getState();
  const own = drafts.find(({ id }) => id === run.draftId) ?? drafts.find(({ shownRunId }) => shownRunId === run.runId);
  if (own) return { draftId: own.id, isNew: false };
  return { draftId: create({ name: run.title.trim().slice(0, 60) || 'Untitled run' }), isNew: true };
}

/**
 * Restores a run in a draft, with a toast to undo it. Returns the draft's id. Throws `AppError` if the host doesn't have the
 * run or has removed its texts.
 */
async function restoreRun(client: Client, runId: string, { signal }: { signal: AbortSignal }): Promise<string> {
  const run = await client.call(readRun, { parameters: { id: runId }, signal });
  signal.throwIfAborted();
  if (run.isAnonymised)
    throw new AppError(
      'not_found',
      "The retention has removed the texts of this run, so its prompt can't be restored.",
    );
  const missing = missingMessages(run);
  if (missing !== null) throw new AppError('conflict', missing);
  const { draftId, isNew } = draftFor(run);
  const { drafts, change, replace, activate } = useDrafts.getState();
  const before = drafts.find(({ id }) => id === draftId);
  if (!before) return draftId;
  const live = useLiveRuns.getState().runs[draftSlot(draftId)];
  // A run without an id would stay on the screen instead of the restored one.
  if (live && live.runId === null) dismissRun(draftSlot(draftId));
  change(draftId, restoredDraft(run, before));
  activate(draftId);
  if (!isNew) {
    showToast({
      tone: 'neutral',
      text: `Restored the run from ${formatTime(run.createdAt)}.`,
      action: { label: 'Undo', run: () => replace(before) },
    });
  }
  return draftId;
}

/**
 * Opens what the address names and replaces the address with that of the open draft. Leaving an address before the host responds
 * cancels it.
 */
export function useAddresses(): void {
  const [location] = useLocation();
  const navigateFromHere = useNavigateFromHere();
  const { client } = useHost();
  const activeId = useDrafts((state) => state.activeId);

  // Only a new address opens something; the address of the opened draft then replaces it.
  const follow = useEffectEvent((target: Target, signal: AbortSignal): void => {
    const { drafts, activate, change } = useDrafts.getState();
    const navigate = navigateFromHere();
    const replaceAddress = (draftId: string): void => navigate(draftAddress(draftId), { replace: true });
    if (target.kind === 'newest') replaceAddress(activeId);
    else if (target.kind === 'draft') {
      if (drafts.some(({ id }) => id === target.draftId)) activate(target.draftId);
      else {
        showToast({ tone: 'neutral', text: "This draft isn't on this device." });
        replaceAddress(activeId);
      }
    } else if (target.kind === 'model') {
      const system = aiSystem.safeParse(target.aiSystem);
      if (system.success) {
        change(activeId, { aiSystem: system.data, model: target.model });
        rememberModel({ aiSystem: system.data, name: target.model });
      }
      replaceAddress(activeId);
    } else {
      const opened =
        target.kind === 'run' ? restoreRun(client, target.runId, { signal }) : openVersion(client, target, { signal });
      opened.then(replaceAddress, (error: unknown) => {
        if (signal.aborted) return;
        const { message, requestId } = describeError(error);
        showToast({ tone: 'negative', text: message, requestId });
        replaceAddress(useDrafts.getState().activeId);
      });
    }
  });

  // A layout effect: after the paint the address may have changed, and the draft's address would replace the new one.
  useLayoutEffect(() => {
    const target = readTarget(location);
    if (target === null) return;
    const controller = new AbortController();
    follow(target, controller.signal);
    return () => controller.abort();
  }, [location]);
}
