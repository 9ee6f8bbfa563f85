import {
  Activity,
  Columns3,
  Copy,
  Eye,
  FilePlus2,
  History,
  Pencil,
  Play,
  Repeat2,
  Save,
  Square,
  SquareTerminal,
  Trash2,
  X,
} from 'lucide-react';
import { useActions, type Action } from '../../../stores/actions.ts';
import { useDrafts } from '../../../stores/playground-drafts.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { createEmptyDraft, deleteDraft } from '../draft-menu.tsx';
import type { Runner } from './use-session.ts';

export interface ActionTargets {
  draft: Draft;
  runner: Runner;
  openDraft: (draftId: string) => void;
  openPicker: () => void;
  rename: () => void;
  save: () => void;
  toggleWire: () => void;
  /** Null while all columns are taken. */
  compare: (() => void) | null;
  /** Null while nothing is compared. */
  closeComparison: (() => void) | null;
  focusEditor: () => void;
  copyAnswer: (() => void) | null;
}

const group = 'Playground';

function runActions({ runner, openPicker, copyAnswer }: ActionTargets): Action[] {
  const isBusy = runner.isActive || runner.isWaiting;
  return [
    {
      id: 'playground.run',
      title: 'Run prompt',
      group,
      icon: Play,
      keys: 'Mod+Enter',
      isEnabled: !isBusy,
      run: runner.run,
    },
    {
      id: 'playground.stop',
      title: 'Stop run',
      group,
      icon: Square,
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled: isBusy,
      run: runner.stop,
    },
    {
      id: 'playground.model',
      title: 'Choose model',
      group,
      icon: Repeat2,
      keys: 'Mod+L',
      keywords: ['provider'],
      run: openPicker,
    },
    {
      id: 'playground.copy',
      title: 'Copy answer',
      group,
      icon: Copy,
      isEnabled: copyAnswer !== null,
      run: () => copyAnswer?.(),
    },
  ];
}

function compareActions({ compare, closeComparison }: ActionTargets): Action[] {
  const { getState, setState } = usePlaygroundView;
  return [
    {
      id: 'playground.compare',
      title: 'Compare models',
      group,
      icon: Columns3,
      keys: 'Mod+Shift+L',
      keywords: ['side by side', 'columns', 'another model'],
      isEnabled: compare !== null,
      run: () => compare?.(),
    },
    {
      id: 'playground.compare.close',
      title: 'Close comparison',
      group,
      icon: X,
      isEnabled: closeComparison !== null,
      run: () => closeComparison?.(),
    },
    {
      id: 'playground.compare.scroll',
      title: 'Scroll compared answers together or separately',
      group,
      icon: Columns3,
      isEnabled: closeComparison !== null,
      run: () => setState({ isScrollLinked: !getState().isScrollLinked }),
    },
  ];
}

function viewActions({ toggleWire, focusEditor }: ActionTargets): Action[] {
  const { getState, setState } = usePlaygroundView;
  return [
    {
      id: 'playground.rendered',
      title: 'Switch between template and rendered prompt',
      group,
      icon: Eye,
      keys: 'Mod+Shift+P',
      run: () => setState({ promptView: getState().promptView === 'template' ? 'rendered' : 'template' }),
    },
    {
      id: 'playground.markdown',
      title: 'Switch between Markdown and plain answer',
      group,
      icon: Eye,
      keys: 'Mod+Shift+M',
      run: () => setState({ answerView: getState().answerView === 'markdown' ? 'plain' : 'markdown' }),
    },
    {
      id: 'playground.wire',
      title: 'Show or hide the wire',
      group,
      icon: Activity,
      keys: 'Mod+J',
      keywords: ['frames', 'curl', 'http'],
      run: toggleWire,
    },
    { id: 'playground.edit', title: 'Go to the prompt', group, icon: Pencil, keys: 'Mod+E', run: focusEditor },
    {
      id: 'playground.history',
      title: 'Switch history between this prompt and all runs',
      group,
      icon: History,
      run: () => setState({ historyScope: getState().historyScope === 'draft' ? 'all' : 'draft' }),
    },
  ];
}

function draftActions({ draft, openDraft, rename, save }: ActionTargets, drafts: readonly Draft[]): Action[] {
  const { duplicate } = useDrafts.getState();
  return [
    {
      id: 'playground.new',
      title: 'New prompt',
      group,
      icon: FilePlus2,
      keys: 'Mod+Alt+N',
      run: () => openDraft(createEmptyDraft()),
    },
    {
      id: 'playground.rename',
      title: 'Rename prompt',
      group,
      icon: Pencil,
      keys: 'F2',
      worksWhileTyping: true,
      run: rename,
    },
    {
      id: 'playground.save',
      title: 'Save to library',
      group,
      icon: Save,
      keys: 'Mod+S',
      keywords: ['version', 'keep'],
      run: save,
    },
    {
      id: 'playground.duplicate',
      title: 'Duplicate prompt',
      group,
      icon: Copy,
      run: () => openDraft(duplicate(draft.id)),
    },
    {
      id: 'playground.delete',
      title: 'Delete prompt',
      group,
      icon: Trash2,
      run: () => deleteDraft(draft, openDraft),
    },
    ...drafts
      .filter(({ id }) => id !== draft.id)
      .map(({ id, name }) => ({
        id: `prompt.${id}`,
        title: name,
        group: 'Prompts',
        icon: SquareTerminal,
        run: () => openDraft(id),
      })),
  ];
}

/** Everything that the playground can do, by name and by keys. */
export function usePlaygroundActions(targets: ActionTargets): void {
  const drafts = useDrafts((state) => state.drafts);
  useActions('playground', [
    ...runActions(targets),
    ...compareActions(targets),
    ...viewActions(targets),
    ...draftActions(targets, drafts),
  ]);
}
