import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { Check } from '../../shared/contract/checks.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { maxVariants } from '../../shared/contract/comparisons.ts';
import type { ConversationRun } from '../../shared/contract/conversations.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { readConfiguration, writeParameters } from '../drafts/parameter-model.ts';
import { type DraftTools, readTools } from '../drafts/tool-drafts.ts';
import { createDraftStorage, type OtherWindowChanges } from './playground-draft-storage.ts';
import { type Draft, lastUsedModel } from './playground-drafts.ts';
import { showToast } from './toasts.ts';

/** A version of the library, or a text that is not in it. */
export type VariantPrompt =
  | { kind: 'version'; promptId: string; versionId: string }
  | { kind: 'text'; title: string; promptText: string; systemMessage: string };

export interface VariantDraft extends Pick<Draft, 'parameters' | 'otherParameters'> {
  id: string;
  /** Empty for the letter of its position. */
  name: string;
  prompt: VariantPrompt | null;
  aiSystem: AiSystem;
  model: string;
  dataspaceIds: readonly string[];
}

export interface CheckDraft {
  id: string;
  kind: Check['kind'];
  isNot: boolean;
  /** Text of each field as typed, `name` and `weight` included. */
  fields: Readonly<Record<string, string>>;
  /** Of `all` and `any`. */
  checks: readonly CheckDraft[];
}

/** A comparison before its start. Fields contain the text as typed, valid or not, so that nothing is lost. */
export interface SetupDraft {
  /** `new`, or the id of the comparison that it changes. */
  id: string;
  name: string;
  basedOn: string | null;
  variants: readonly VariantDraft[];
  /** Null for the first variant. */
  baselineId: string | null;
  datasetId: string | null;
  /** Null for the latest. */
  datasetVersion: number | null;
  /** Column by variable. */
  variables: Readonly<Record<string, string>>;
  /** Columns that fill no variable by choice. */
  checksOnly: readonly string[];
  titleColumn: string | null;
  isFirstRowsOnly: boolean;
  checks: readonly CheckDraft[];
  repeats: string;
  concurrency: string;
  maxCost: string;
  attempts: string;
  timeLimitSeconds: string;
  isRandomOrder: boolean;
  seed: string;
  /** Milliseconds since 1970. */
  updatedAt: number;
}

export type SetupChange = Partial<Omit<SetupDraft, 'id' | 'updatedAt'>>;

export const newSetupId = 'new';

export function emptySetup(change: SetupChange = {}): SetupDraft {
  return {
    name: '',
    basedOn: null,
    variants: [],
    baselineId: null,
    datasetId: null,
    datasetVersion: null,
    variables: {},
    checksOnly: [],
    titleColumn: null,
    isFirstRowsOnly: false,
    checks: [],
    repeats: '1',
    concurrency: '4',
    maxCost: '',
    attempts: '1',
    timeLimitSeconds: '300',
    isRandomOrder: false,
    seed: '',
    ...change,
    id: newSetupId,
    updatedAt: Date.now(),
  };
}

/** The open prompt of the playground as a variant: its version if it was not edited, or its text. */
export function draftVariant(draft: Draft, { isVersion }: { isVersion: boolean }): VariantDraft {
  const { parameters, source, grounding, aiSystem, model } = draft;
  return {
    id: crypto.randomUUID(),
    name: '',
    prompt:
      isVersion && source
        ? { kind: 'version', promptId: source.promptId, versionId: source.versionId }
        : { kind: 'text', title: draft.name, promptText: draft.promptText, systemMessage: draft.systemMessage },
    aiSystem,
    model,
    parameters,
    otherParameters: withTools(draft),
    dataspaceIds: grounding?.dataspaceIds ?? [],
  };
}

/** The tools of a draft move to the extra parameters, where those of a stored configuration are, too. */
function withTools(draft: Pick<Draft, 'otherParameters'> & DraftTools): string {
  const { configuration: tools, problems } = readTools(draft);
  const others = readConfiguration({ parameters: {}, otherParameters: draft.otherParameters }, null);
  if (problems.length + others.problems.length > 0 || Object.keys(tools).length === 0) return draft.otherParameters;
  return JSON.stringify({ ...others.configuration, ...tools }, null, 2);
}

interface ComparisonDrafts {
  drafts: SetupDraft[];
  /** Part of the stored form. Drafts of comparisons are found by their ids. */
  activeId: string;
  write: (draft: SetupDraft) => void;
  remove: (id: string) => void;
}

function applyOtherWindowChanges({ changed, removedIds }: OtherWindowChanges<SetupDraft>): SetupDraft[] {
  const { drafts } = useComparisonDrafts.getState();
  const taken = changed.filter(({ id, updatedAt }) =>
    drafts.every((own) => own.id !== id || own.updatedAt <= updatedAt),
  );
  const replaced = new Set([...taken.map(({ id }) => id), ...removedIds]);
  useComparisonDrafts.setState({ drafts: [...taken, ...drafts.filter(({ id }) => !replaced.has(id))] });
  return taken;
}

/** Setups that were changed and not saved. */
export const useComparisonDrafts = create<ComparisonDrafts>()(
  persist(
    (set) => ({
      drafts: [],
      activeId: newSetupId,
      write: (draft) => {
        const written = { ...draft, updatedAt: Date.now() };
        set(({ drafts }) => ({ drafts: [written, ...drafts.filter(({ id }) => id !== draft.id)] }));
      },
      remove: (id) => set(({ drafts }) => ({ drafts: drafts.filter((draft) => draft.id !== id) })),
    }),
    {
      name: 'comparison-drafts',
      version: 1,
      storage: createDraftStorage('comparison-drafts', applyOtherWindowChanges),
      partialize: ({ drafts, activeId }) => ({ drafts, activeId }),
    },
  ),
);

/** A version of the library as a variant. A version without a model has the one that was used last. */
function versionVariant(version: PromptVersion): VariantDraft {
  const { aiSystem, model } = version;
  return {
    id: crypto.randomUUID(),
    name: '',
    prompt: { kind: 'version', promptId: version.promptId, versionId: version.id },
    ...(model === null ? lastUsedModel() : { model, aiSystem: aiSystem ?? 'ServiceAi' }),
    ...writeParameters(version.configuration),
    dataspaceIds: [],
  };
}

/** The messages and the parameters of a stored run as a variant. */
export function runVariant(
  { input, aiSystem, model }: Pick<ConversationRun, 'input' | 'aiSystem' | 'model'>,
  title: string,
): VariantDraft {
  const { promptText, systemMessage, configuration, dataspaceIds } = input;
  return {
    id: crypto.randomUUID(),
    name: '',
    prompt: { kind: 'text', title, promptText, systemMessage: systemMessage ?? '' },
    aiSystem,
    model,
    ...writeParameters(configuration),
    dataspaceIds: dataspaceIds ?? [],
  };
}

/** Adds a version to the setup that was not started yet. Returns its letter, or null if the setup has as many variants as it may. */
export async function addVersionToSetup(version: PromptVersion): Promise<string | null> {
  // Setups load from the disk. A change before that would overwrite them.
  const { hasHydrated, onFinishHydration } = useComparisonDrafts.persist;
  if (!hasHydrated()) await new Promise<void>((resolve) => onFinishHydration(() => resolve()));
  const { drafts, write } = useComparisonDrafts.getState();
  const before = drafts.find(({ id }) => id === newSetupId) ?? emptySetup();
  if (before.variants.length >= maxVariants) return null;
  write({ ...before, variants: [...before.variants, versionVariant(version)] });
  return String.fromCodePoint(65 + before.variants.length);
}

/** Writes a new setup in place of the one that was not saved yet, which Undo restores if it had anything in it. */
export function replaceNewSetup(change: SetupChange): void {
  const { drafts, write } = useComparisonDrafts.getState();
  const before = drafts.find(({ id }) => id === newSetupId);
  write(emptySetup(change));
  if (!before || (before.datasetId === null && before.checks.length === 0 && before.variants.length < 2)) return;
  showToast({
    tone: 'neutral',
    text: 'Replaced a setup that was not saved.',
    action: { label: 'Undo', run: () => useComparisonDrafts.getState().write(before) },
  });
}
