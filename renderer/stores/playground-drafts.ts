import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';
import type { NamedParameter } from '../../shared/contract/completions.ts';
import type { PassageReference } from '../../shared/contract/grounding.ts';
import type { DraftTools } from '../drafts/tool-drafts.ts';
import { useModelChoices } from './model-choices.ts';
import { createDraftStorage, type OtherWindowChanges } from './playground-draft-storage.ts';

/**
 * The prompt of a first start. The shipped model answers it well: `npm run benchmark -- example` checks it. It repeats a longer
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
 * The change of a draft for an edit of its prompt. A person's own prompt in place of the example's removes the example's parameters,
 * which would end every answer at its first line, and the example's name.
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

/** The dataspaces of a draft, and the passages that a person pinned or excluded. */
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
 * One prompt that a person works on. Fields contain the text as typed, valid or not, so that nothing is lost. A run sends values
 * derived from it.
 */
export interface Draft extends DraftTools {
  id: string;
  name: string;
  /** Whether it is the example that a first start opens with. */
  isExample: boolean;
  promptText: string;
  systemMessage: string;
  aiSystem: AiSystem;
  model: string;
  /** Text of each variable's field by its path, including variables that the template no longer has. */
  values: Record<string, string>;
  /** Variables whose text is parsed as JSON although the template would accept the text. */
  jsonNames: readonly string[];
  /** Text of each parameter's field. A run sends only those that are present. */
  parameters: Partial<Record<NamedParameter, string>>;
  /** JSON object of parameters without a field; empty for none. */
  otherParameters: string;
  transport: Transport;
  /** Null outside the library. Absent in drafts of earlier releases. */
  source?: DraftSource | null;
  /** Absent in drafts of earlier releases. */
  grounding?: DraftGrounding;
  /** Absent or empty while nothing is compared. */
  compared?: readonly ComparedColumn[];
  /** The run whose answer is on the screen; null before the first one. */
  shownRunId: string | null;
  /** Milliseconds since 1970. */
  updatedAt: number;
}

export type DraftChange = Partial<Omit<Draft, 'id' | 'updatedAt'>>;

/** A deleted draft with its position, to undo the deletion. */
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
  /** Puts an earlier state of a draft in place of the present one, to undo a change. */
  replace: (earlier: Draft) => void;
  /** Creates a draft, opens it and returns its id. */
  create: (from?: DraftChange) => string;
  duplicate: (id: string) => string;
  /** Null if the draft doesn't exist. An empty draft replaces the last one. */
  remove: (id: string) => DeletedDraft | null;
  restore: (deleted: DeletedDraft) => void;
}

/** Longer lists of drafts would be useless. The drafts with the oldest edits are removed first. */
export const maxDrafts = 200;

/** The model that needs neither a key nor a network. */
export const onDeviceChoice = { aiSystem: 'ServiceAi', model: 'hl-gpt-4.1-mini' } as const;

export function isKeyedProvider(aiSystem: AiSystem): aiSystem is KeyedProvider {
  return aiSystem !== 'ServiceAi' && aiSystem !== 'OpenAiCompatible';
}

/** Names are unique, so that a person can tell drafts apart. A number follows a used name. */
function unusedName(name: string, drafts: readonly Draft[]): string {
  const taken = new Set(drafts.map((draft) => draft.name));
  let unused = name;
  for (let number = 2; taken.has(unused); number += 1) unused = `${name} ${number}`;
  return unused;
}

/** The model that a new prompt or agent starts with. */
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

/** The models of compared columns, whatever their runs are. */
function comparedModels({ compared = [] }: Pick<Draft, 'compared'>): string {
  return JSON.stringify(compared.map((column) => ({ ...column, runId: null })));
}

/** A run is no edit: the texts of this window may be older than those of another one. */
function changed(draft: Draft, change: DraftChange): Draft {
  const next = { ...draft, ...change };
  const isRun = Object.keys(change).every((key) => key === 'shownRunId' || key === 'compared');
  return isRun && comparedModels(next) === comparedModels(draft) ? next : { ...next, updatedAt: Date.now() };
}

/** Limits drafts to the newest ones and the open one. */
function withinBounds(drafts: Draft[], activeId: string): Draft[] {
  if (drafts.length <= maxDrafts) return drafts;
  const newest = drafts.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, maxDrafts);
  const ids = new Set(newest.map((draft) => draft.id)).add(activeId);
  return drafts.filter((draft) => ids.has(draft.id));
}

function freshState(): Pick<DraftsState, 'drafts' | 'activeId'> {
  const draft = newDraft({ ...exampleDraft, ...onDeviceChoice }, []);
  return { drafts: [draft], activeId: draft.id };
}

/** What a window shows when nothing is stored. It is stored with the first change. */
const fresh = freshState();

export const useDrafts = create<DraftsState>()(
  persist(
    (set, get) => ({
      ...fresh,
      newId: null,
      activate: (id) => {
        if (get().drafts.some((draft) => draft.id === id)) set({ activeId: id });
      },
      change: (id, { name, ...change }) => {
        if (name !== undefined) get().rename(id, name);
        set(({ drafts }) => ({
          drafts: drafts.map((draft) => (draft.id === id ? changed(draft, change) : draft)),
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
      replace: (earlier) =>
        set(({ drafts }) => ({
          drafts: drafts.map((draft) => (draft.id === earlier.id ? { ...earlier, updatedAt: Date.now() } : draft)),
        })),
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
      storage: createDraftStorage('playground-drafts', applyOtherWindowChanges),
      partialize: ({ drafts, activeId }) => ({ drafts, activeId }),
    },
  ),
);

function withoutDraft({ drafts, activeId }: DraftsState, position: number): Pick<DraftsState, 'drafts' | 'activeId'> {
  const rest = drafts.toSpliced(position, 1);
  if (rest.length === 0) rest.push(newDraft({}, []));
  const isActiveRemoved = rest.every((draft) => draft.id !== activeId);
  const neighbour = rest[Math.min(position, rest.length - 1)];
  return { drafts: rest, activeId: isActiveRemoved && neighbour ? neighbour.id : activeId };
}

/** Ignores the shown run: two windows may run the same draft. */
function isSame(one: Draft, other: Draft): boolean {
  const contents = ({ shownRunId: _shown, updatedAt: _at, ...draft }: Draft) => JSON.stringify(draft);
  return contents(one) === contents(other);
}

/** Applies what another window wrote, unless this one has a newer version. Returns the applied drafts. */
export function applyOtherWindowChanges({ changed: theirs, removedIds }: OtherWindowChanges<Draft>): Draft[] {
  const { drafts } = useDrafts.getState();
  const taken = theirs.flatMap((draft) => {
    const own = drafts.find(({ id }) => id === draft.id);
    if (!own) return [{ ...draft, shownRunId: null }];
    return own.updatedAt > draft.updatedAt || isSame(own, draft) ? [] : [{ ...draft, shownRunId: own.shownRunId }];
  });
  take(taken);
  // After the others: an empty draft of this window would replace the last one, beside that of the other window.
  for (const id of removedIds) useDrafts.getState().remove(id);
  return taken;
}

function take(taken: Draft[]): void {
  const [newest] = taken;
  if (!newest) return;
  const { drafts } = useDrafts.getState();
  // Another window stored the first draft while this one opened.
  if (drafts.length === 1 && drafts[0] === fresh.drafts[0]) {
    useDrafts.setState({ drafts: taken, activeId: newest.id });
    return;
  }
  useDrafts.setState((state) => {
    const known = new Set(state.drafts.map(({ id }) => id));
    const renewed = state.drafts.map((draft) => taken.find(({ id }) => id === draft.id) ?? draft);
    return { drafts: [...taken.filter(({ id }) => !known.has(id)), ...renewed] };
  });
}

/** Resolves when the drafts of the disk are here. */
export async function draftsAreRead(): Promise<void> {
  const { hasHydrated, onFinishHydration } = useDrafts.persist;
  if (!hasHydrated()) await new Promise<void>((resolve) => onFinishHydration(() => resolve()));
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
