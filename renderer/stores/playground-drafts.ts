import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';
import type { NamedParameter } from '../../shared/contract/completions.ts';
import type { PassageReference } from '../../shared/contract/grounding.ts';
import { useModelChoices } from './model-choices.ts';
import { createDraftStorage, type DraftsElsewhere } from './playground-draft-storage.ts';

/**
 * The prompt of a first start. The shipped model answers it well: `npm run benchmark -- example` tries it. It repeats a longer
 * passage, and worked examples confuse it.
 */
export const exampleDraft = {
  name: 'Answer from a passage',
  isExample: true,
  promptText: `Answer the question from the passage in one short sentence.

{{passage}}

{{question}}`,
  values: {
    passage: 'The workshop is open from Tuesday to Saturday. It repairs bicycles and clocks.',
    question: 'On which days is the workshop open?',
  },
  parameters: { max_tokens: '120', temperature: '0.2', top_p: '0.95', stop: String.raw`\n` },
};

/** The name of a new prompt. */
export const untitled = 'Untitled prompt';

const exampleLines = new Set(exampleDraft.promptText.split('\n').filter((line) => line !== ''));

/**
 * What an edit of the prompt changes. Where somebody puts a prompt of their own in the place of the example's, the example's
 * parameters go with it: they would cut every answer at its first line. So does its name, which says what the example asks.
 */
export function promptEdit({ isExample, name }: Pick<Draft, 'isExample' | 'name'>, promptText: string): DraftChange {
  const isAnother = isExample && promptText.split('\n').every((line) => !exampleLines.has(line));
  return {
    promptText,
    isExample: false,
    ...(isAnother && { parameters: {} }),
    ...(isAnother && name === exampleDraft.name && { name: untitled }),
  };
}

/** The form of the answer on the wire. */
export type Transport = 'sse' | 'json-array' | 'sync';

/** The version of a stored prompt that a draft was opened from or saved as. */
export interface DraftSource {
  promptId: string;
  versionId: string;
}

/** What a draft is grounded on, and what a person wants otherwise than the search has it. */
export interface DraftGrounding {
  dataspaceIds: readonly string[];
  pinned: readonly PassageReference[];
  excluded: readonly PassageReference[];
}

/** Another answer beside the draft's own: the same prompt on another model, or without its passages. */
export interface ComparedColumn {
  id: string;
  aiSystem: AiSystem;
  model: string;
  /** False for a run of the draft's own model without its passages. */
  isGrounded: boolean;
  /** Null before the first run. */
  runId: string | null;
}

export const noGrounding: DraftGrounding = { dataspaceIds: [], pinned: [], excluded: [] };

/**
 * One prompt that is being worked on. Fields hold the text as it was typed, valid or not, so that nothing a person
 * wrote is lost; what a run sends is derived from it.
 */
export interface Draft {
  id: string;
  name: string;
  /** Whether it is the example that a first start opens with. */
  isExample: boolean;
  promptText: string;
  systemMessage: string;
  aiSystem: AiSystem;
  model: string;
  /** Text of each variable's field by its path, those included that the template no longer names. */
  values: Record<string, string>;
  /** Variables whose text is read as JSON although the template would take it as it is. */
  jsonNames: readonly string[];
  /** Text of each parameter's field; an absent one is not sent. */
  parameters: Partial<Record<NamedParameter, string>>;
  /** JSON object of parameters that the window has no field for; empty is none. */
  otherParameters: string;
  transport: Transport;
  /** Null for one that is not in the library; drafts that were kept by earlier versions have none. */
  source?: DraftSource | null;
  /** Absent in drafts that were kept by earlier versions. */
  grounding?: DraftGrounding;
  /** Absent or empty while nothing is compared. */
  compared?: readonly ComparedColumn[];
  /** The run whose answer is on the screen; null before the first one. */
  shownRunId: string | null;
  /** Milliseconds since 1970. */
  updatedAt: number;
}

export type DraftChange = Partial<Omit<Draft, 'id' | 'updatedAt'>>;

/** What a deletion took away, enough to undo it. */
export interface DeletedDraft {
  draft: Draft;
  position: number;
}

interface DraftsState {
  drafts: Draft[];
  activeId: string;
  /** A new, empty draft whose editor hasn't had the focus yet. */
  newId: string | null;
  activate: (id: string) => void;
  change: (id: string, change: DraftChange) => void;
  rename: (id: string, name: string) => void;
  /** Makes a draft, opens it and gives its id. */
  create: (from?: DraftChange) => string;
  duplicate: (id: string) => string;
  /** Null for a draft that does not exist. The last draft is replaced by an empty one. */
  remove: (id: string) => DeletedDraft | null;
  restore: (deleted: DeletedDraft) => void;
}

/** More would make every list of drafts useless; the oldest unused ones make room. */
export const maxDrafts = 200;

/** The model that needs neither a key nor a network. */
export const onDeviceChoice = { aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' } as const;

export function isKeyedProvider(aiSystem: AiSystem): aiSystem is KeyedProvider {
  return aiSystem !== 'ServiceAi' && aiSystem !== 'OpenAiCompatible';
}

/** Names are unique, so that a list of them can be read: a taken one gets a number. */
function unusedName(name: string, drafts: readonly Draft[]): string {
  const taken = new Set(drafts.map((draft) => draft.name));
  let unused = name;
  for (let number = 2; taken.has(unused); number += 1) unused = `${name} ${number}`;
  return unused;
}

/** What a new prompt or agent starts with: the model that was used last. */
export function lastUsedModel(): Pick<Draft, 'aiSystem' | 'model'> {
  const [last] = useModelChoices.getState().recent;
  return last ? { aiSystem: last.aiSystem, model: last.name } : onDeviceChoice;
}

function newDraft(from: DraftChange, others: readonly Draft[]): Draft {
  return {
    isExample: false,
    promptText: '',
    systemMessage: '',
    ...lastUsedModel(),
    values: {},
    jsonNames: [],
    shownRunId: null,
    parameters: {},
    otherParameters: '',
    transport: 'sse',
    ...from,
    id: crypto.randomUUID(),
    name: unusedName(from.name ?? untitled, others),
    updatedAt: Date.now(),
  };
}

/** Keeps the newest drafts and, whatever its age, the one that is open. */
function withinBounds(drafts: Draft[], activeId: string): Draft[] {
  if (drafts.length <= maxDrafts) return drafts;
  const newest = drafts.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, maxDrafts);
  const kept = new Set(newest.map((draft) => draft.id)).add(activeId);
  return drafts.filter((draft) => kept.has(draft.id));
}

function freshState(): Pick<DraftsState, 'drafts' | 'activeId'> {
  const draft = newDraft({ ...exampleDraft, ...onDeviceChoice }, []);
  return { drafts: [draft], activeId: draft.id };
}

export const useDrafts = create<DraftsState>()(
  persist(
    (set, get) => ({
      ...freshState(),
      newId: null,
      activate: (id) => {
        if (get().drafts.some((draft) => draft.id === id)) set({ activeId: id });
      },
      change: (id, { name, ...change }) => {
        if (name !== undefined) get().rename(id, name);
        set(({ drafts }) => ({
          drafts: drafts.map((draft) => (draft.id === id ? { ...draft, ...change, updatedAt: Date.now() } : draft)),
        }));
      },
      rename: (id, name) =>
        set(({ drafts }) => {
          const unused = unusedName(
            name,
            drafts.filter((draft) => draft.id !== id),
          );
          return { drafts: drafts.map((draft) => (draft.id === id ? { ...draft, name: unused } : draft)) };
        }),
      create: (from) => {
        const draft = newDraft(from ?? {}, get().drafts);
        set(({ drafts }) => ({ drafts: withinBounds([draft, ...drafts], draft.id), activeId: draft.id }));
        if (!from) set({ newId: draft.id });
        return draft.id;
      },
      duplicate: (id) => {
        const original = get().drafts.find((draft) => draft.id === id);
        return get().create(
          original && { ...original, name: `${original.name}, copy`, isExample: false, source: null, shownRunId: null },
        );
      },
      remove: (id) => {
        const position = get().drafts.findIndex((draft) => draft.id === id);
        const draft = get().drafts[position];
        if (!draft) return null;
        set((state) => withoutDraft(state, position));
        return { draft, position };
      },
      restore: ({ draft, position }) =>
        set(({ drafts }) => ({
          drafts: drafts.some(({ id }) => id === draft.id) ? drafts : drafts.toSpliced(position, 0, draft),
          activeId: draft.id,
        })),
    }),
    {
      name: 'playground-drafts',
      version: 1,
      storage: createDraftStorage(takeElsewhere),
      partialize: ({ drafts, activeId }) => ({ drafts, activeId }),
    },
  ),
);

function withoutDraft({ drafts, activeId }: DraftsState, position: number): Pick<DraftsState, 'drafts' | 'activeId'> {
  const rest = drafts.toSpliced(position, 1);
  if (rest.length === 0) rest.push(newDraft({}, []));
  const isActiveGone = rest.every((draft) => draft.id !== activeId);
  const neighbour = rest[Math.min(position, rest.length - 1)];
  return { drafts: rest, activeId: isActiveGone && neighbour ? neighbour.id : activeId };
}

/** Which run a window shows is its own matter: two windows may run the same draft. */
function isSame(one: Draft, other: Draft): boolean {
  const contents = ({ shownRunId: _shown, updatedAt: _at, ...draft }: Draft) => JSON.stringify(draft);
  return contents(one) === contents(other);
}

/** Shows what another window wrote, unless this one has something newer, and returns what it took. */
export function takeElsewhere({ changed, removedIds }: DraftsElsewhere): Draft[] {
  const { drafts } = useDrafts.getState();
  const taken = changed.flatMap((draft) => {
    const own = drafts.find(({ id }) => id === draft.id);
    if (!own) return [{ ...draft, shownRunId: null }];
    return own.updatedAt > draft.updatedAt || isSame(own, draft) ? [] : [{ ...draft, shownRunId: own.shownRunId }];
  });
  for (const id of removedIds) useDrafts.getState().remove(id);
  if (taken.length === 0) return taken;
  useDrafts.setState((state) => {
    const known = new Set(state.drafts.map(({ id }) => id));
    const renewed = state.drafts.map((draft) => taken.find(({ id }) => id === draft.id) ?? draft);
    return { drafts: [...taken.filter(({ id }) => !known.has(id)), ...renewed] };
  });
  return taken;
}

/** The open draft. There always is one. */
export function getActiveDraft({ drafts, activeId }: Pick<DraftsState, 'drafts' | 'activeId'>): Draft {
  const draft = drafts.find(({ id }) => id === activeId) ?? drafts[0];
  if (!draft) throw new Error('The store of drafts is empty');
  return draft;
}

export function useActiveDraft(): Draft {
  return useDrafts(getActiveDraft);
}
