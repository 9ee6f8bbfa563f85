import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { PromptOutline, PromptRunRequest } from '../../shared/contract/prompt-library.ts';
import type { Prompt, PromptInput, PromptVersion, PromptVersionInput } from '../../shared/contract/prompts.ts';
import {
  modelNameOf,
  promptDetails,
  type RunSettings,
  runsTheSame,
  versionContent,
  type VersionContent,
} from '../../shared/prompt-content.ts';
import type { AcceptedRun, Completions, RunOrigin } from '../completions/completions.ts';
import { requirePrompt } from '../completions/render-prompt.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { DraftRuns } from '../storage/prompts/prompt-usage.ts';
import type { PromptStore } from '../storage/prompts/prompt-store.ts';
import { type FolderCount, folderParts, type TagCount } from '../storage/prompts/prompt-search.ts';

/** Runs per transaction, which takes a few milliseconds. */
const sliceRuns = 100;

interface CountOptions {
  readonly store: DraftRuns;
  readonly isSame: (run: RunSettings) => boolean;
  readonly slice?: number;
}

/** Assigns a draft's runs to the version if they sent the same. Returns how many. Other requests can run in between. */
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

/** Whether a run sent the same as a version. Neither sends parameters that the model doesn't support. */
function sameAs(
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
      // The model or its key is missing, so compare the requested configuration.
      return settings;
    }
  };
  const target = sent(version);
  return (run) => runsTheSame(sent(run), target);
}

function compareNames(one: string, other: string): number {
  return one.localeCompare(other, 'en', { sensitivity: 'base', numeric: true });
}

function compareParts(one: readonly string[], other: readonly string[]): number {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const order = compareNames(one[index]!, other[index]!);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** Folders and tags by name. The list also has folders that contain only folders, and counts include subfolders. */
function outlineOf(folders: readonly FolderCount[], tags: readonly TagCount[]): PromptOutline {
  const counts = new Map<string, number>();
  let [prompts, withoutFolder] = [0, 0];
  for (const { folder, prompts: count } of folders) {
    const parts = folderParts(folder ?? '');
    prompts += count;
    if (parts.length === 0) withoutFolder += count;
    for (let length = 1; length <= parts.length; length += 1) {
      const path = parts.slice(0, length).join('/');
      counts.set(path, (counts.get(path) ?? 0) + count);
    }
  }
  return {
    prompts,
    withoutFolder,
    folders: [...counts]
      .map(([folder, count]) => ({ folder, parts: folder.split('/'), prompts: count }))
      .toSorted((one, other) => compareParts(one.parts, other.parts))
      .map(({ folder, prompts: count }) => ({ folder, prompts: count })),
    tags: tags
      .map(({ tag, prompts: count }) => ({ tag, prompts: count }))
      .toSorted((a, b) => compareNames(a.tag, b.tag)),
  };
}

type OwnedByStore =
  | 'list'
  | 'read'
  | 'update'
  | 'remove'
  | 'listVersions'
  | 'readLabel'
  | 'setLabel'
  | 'removeLabel'
  | 'listLabelChanges'
  | 'listUsage';

/** Stored prompts. Reading, renaming, labelling and removing them is in the store. */
export interface Prompts extends Pick<PromptStore, OwnedByStore> {
  /** Folders and tags, with the number of prompts of each. */
  outline(): PromptOutline;
  /** Throws `invalid_request` for a malformed template (with line and column) and for an unknown model. */
  create(input: PromptInput): Prompt;
  /**
   * Creates all prompts, or none if one is rejected. Throws as `create` does. Templates that the file reader has checked aren't parsed
   * again, because many large ones would block the host.
   */
  createAll(inputs: readonly PromptInput[], options: { areTemplatesChecked: boolean }): Prompt[];
  /** The same, and `not_found` for an unknown prompt. */
  addVersion(id: string, input: PromptVersionInput): PromptVersion;
  /**
   * Assigns the runs of a draft to a version if they sent the same and don't have a version yet. Returns how many. Can be repeated. Throws
   * `not_found`.
   */
  countDraftRuns(id: string, versionId: string, draftId: string): Promise<number>;
  /** Also of a deleted prompt. Throws `not_found`. */
  readVersion(id: string, versionId: string): PromptVersion;
  /**
   * Starts a run of the newest version, or of the given version or label. Throws `not_found`, `invalid_request` for a version of another
   * prompt, and the errors of a completion.
   */
  run(request: PromptRunRequest, origin: RunOrigin, options: { signal: AbortSignal }): Promise<AcceptedRun>;
}

export interface PromptsOptions {
  readonly store: PromptStore;
  readonly draftRuns: DraftRuns;
  readonly providers: Pick<Providers, 'systemOf' | 'resolve' | 'applicableConfiguration'>;
  readonly completions: Pick<Completions, 'start'>;
}

const unknownVersion = () => new AppError('not_found', 'This prompt has no version with this ID.');

/** The newest version of a prompt, or the one that the request names. */
function versionToRun(store: PromptStore, { promptId, promptVersionId, label }: PromptRunRequest): PromptVersion {
  const prompt = store.read(promptId);
  const labelledId = label ? store.readLabel(promptId, label).promptVersionId : null;
  const version = store.findVersion(promptVersionId ?? labelledId ?? prompt.latestVersionId);
  if (version === null) throw unknownVersion();
  if (version.promptId === prompt.id) return version;
  throw invalidField(
    'promptVersionId',
    'is a version of another prompt',
    'promptVersionId is a version of another prompt.',
  );
}

/** Throws `not_found`. */
function requireVersion(store: PromptStore, id: string, versionId: string): PromptVersion {
  const version = store.findVersion(versionId);
  if (version === null || version.promptId !== id.toLowerCase()) throw unknownVersion();
  return version;
}

export function createPrompts({ store, draftRuns, providers, completions }: PromptsOptions): Prompts {
  /** The content of a version. Throws if it could never run. */
  function checkedVersion(input: PromptVersionInput, isTemplateChecked = false): VersionContent {
    if (!isTemplateChecked) requirePrompt(input.promptText);
    const content = versionContent(input);
    const { aiSystem, model } = content;
    // Stored with its provider, because another provider may later have a model of the same name.
    return { ...content, aiSystem: model === null ? null : providers.systemOf(aiSystem, model) };
  }

  return {
    list: store.list,
    read: store.read,
    update: store.update,
    remove: store.remove,
    listVersions: store.listVersions,
    readLabel: store.readLabel,
    setLabel: store.setLabel,
    removeLabel: store.removeLabel,
    listLabelChanges: store.listLabelChanges,
    listUsage: store.listUsage,
    outline() {
      const { folders, tags } = store.counts();
      return outlineOf(folders, tags);
    },
    create: (input) => store.create(promptDetails(input), checkedVersion(input)),
    createAll: (inputs, { areTemplatesChecked }) =>
      store.createAll(
        inputs.map((input) => ({ prompt: promptDetails(input), version: checkedVersion(input, areTemplatesChecked) })),
      ),
    addVersion(id, input) {
      store.read(id);
      return store.addVersion(id, checkedVersion(input));
    },
    async countDraftRuns(id, versionId, draftId) {
      const version = requireVersion(store, id, versionId);
      return countDraftRuns(draftId, version, { store: draftRuns, isSame: sameAs(version, providers) });
    },
    readVersion: (id, versionId) => requireVersion(store, id, versionId),
    async run(request, origin, { signal }) {
      const version = versionToRun(store, request);
      return completions.start(
        {
          promptText: version.promptText,
          systemMessage: version.systemMessage,
          ...modelNameOf(version),
          configuration: version.configuration,
          replacements: { ...defaultsOf(version), ...request.replacements },
        },
        origin,
        {
          signal,
          storedPrompt: { promptId: version.promptId, promptVersionId: version.id },
          isHistoryVariable: version.variables.some(({ name }) => name === 'history'),
        },
      );
    },
  };
}

function defaultsOf({ variables }: PromptVersion): Record<string, string> {
  return Object.fromEntries(
    variables.flatMap(({ name, defaultValue }) => (defaultValue === null ? [] : [[name, defaultValue]])),
  );
}
