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
  Wrench,
  X,
} from 'lucide-react';
import { useLocation } from 'wouter';
import { isEdited } from '../../../drafts/draft-version.ts';
import { usePromptVersion } from '../../../queries/prompts.ts';
import { draftAddress, newComparisonAddress } from '../../../shell/addresses.ts';
import { useActions, type Action } from '../../../stores/actions.ts';
import { draftVariant, replaceNewSetup } from '../../../stores/comparison-drafts.ts';
import { useActiveDraft, useDrafts, type Draft } from '../../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { showToast } from '../../../stores/toasts.ts';
import type { Comparison } from '../compare/use-comparison.ts';
import { toggleWire } from '../wire/wire-panel.tsx';
import {
  openToolId,
  useComparison,
  useFocusTargets,
  useOpenParts,
  useRunControls,
  type RunControls,
} from './playground-session.tsx';

/** Creates a prompt and shows its template, where the focus goes. */
export function createEmptyDraft(): string {
  usePlaygroundView.setState({ promptView: 'template' });
  return useDrafts.getState().create();
}

/** Deletes a draft. A toast offers to restore it. */
export function deleteDraft(draft: Pick<Draft, 'id' | 'name'>, openDraft: (draftId: string) => void): void {
  const deleted = useDrafts.getState().remove(draft.id);
  if (!deleted) return;
  openDraft(useDrafts.getState().activeId);
  showToast({
    tone: 'neutral',
    text: `Deleted "${draft.name}". Its runs stay in the history.`,
    action: {
      label: 'Undo',
      run: () => {
        useDrafts.getState().restore(deleted);
        openDraft(draft.id);
      },
    },
  });
}

export function useOpenDraft(): (draftId: string) => void {
  const [, navigate] = useLocation();
  return (draftId) => navigate(draftAddress(draftId));
}

/** Opens a comparison over the rows of a dataset, with the draft as its first variant. */
export function useCompareRows(): () => void {
  const draft = useActiveDraft();
  const [, navigate] = useLocation();
  const source = draft.source ?? null;
  const { data: version } = usePromptVersion(source?.promptId ?? null, source?.versionId ?? null);
  return () => {
    const isVersion = version !== undefined && !isEdited(draft, version);
    replaceNewSetup({ variants: [draftVariant(draft, { isVersion })] });
    navigate(newComparisonAddress);
  };
}

type OpenPlaygroundPart = ReturnType<typeof useOpenParts>['open'];

const group = 'Playground';

function runActions(
  { isActive, isWaiting, run, stop }: RunControls,
  { openPart, open }: ReturnType<typeof useOpenParts>,
): Action[] {
  const isBusy = isActive || isWaiting;
  return [
    {
      id: 'playground.run',
      title: 'Run prompt',
      group,
      icon: Play,
      keys: 'Mod+Enter',
      isEnabled: !isBusy,
      run,
    },
    {
      id: 'playground.stop',
      title: 'Stop run',
      group,
      icon: Square,
      // In the tool editor, Escape closes it.
      keys: openToolId(openPart) === null ? 'Escape' : undefined,
      worksWhileTyping: true,
      isEnabled: isBusy,
      run: stop,
    },
    {
      id: 'playground.model',
      title: 'Choose model',
      group,
      icon: Repeat2,
      keys: 'Mod+L',
      keywords: ['provider'],
      run: () => open('model-picker'),
    },
  ];
}

function compareActions({ isActive, canAdd, add, close }: Comparison, compareRows: () => void): Action[] {
  const { getState, setState } = usePlaygroundView;
  return [
    {
      id: 'playground.compare',
      title: 'Compare models',
      group,
      icon: Columns3,
      keys: 'Mod+Shift+L',
      keywords: ['side by side', 'columns', 'another model'],
      isEnabled: canAdd,
      run: () => add(),
    },
    {
      id: 'playground.compare-rows',
      title: 'Compare over rows',
      group,
      icon: Columns3,
      keywords: ['dataset', 'evaluate', 'variants'],
      run: compareRows,
    },
    {
      id: 'playground.compare.close',
      title: 'Close comparison',
      group,
      icon: X,
      isEnabled: isActive,
      run: close,
    },
    {
      id: 'playground.compare.scroll',
      title: 'Scroll compared answers together or separately',
      group,
      icon: Columns3,
      isEnabled: isActive,
      run: () => setState({ isScrollLinked: !getState().isScrollLinked }),
    },
  ];
}

function viewActions(focusEditor: () => void): Action[] {
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
    {
      id: 'playground.automatic-steps',
      title: 'Continue tool calls automatically with mocks, on or off',
      group,
      icon: Wrench,
      run: () => setState({ continuesAutomatically: !getState().continuesAutomatically }),
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

interface DraftActionOptions {
  draft: Draft;
  drafts: readonly Draft[];
  openDraft: (draftId: string) => void;
  open: OpenPlaygroundPart;
}

function draftActions({ draft, drafts, openDraft, open }: DraftActionOptions): Action[] {
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
      run: () => open('name-field'),
    },
    {
      id: 'playground.save',
      title: 'Save to library',
      group,
      icon: Save,
      keys: 'Mod+S',
      keywords: ['version', 'keep'],
      run: () => open('save-dialog'),
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
export function usePlaygroundActions(): void {
  const draft = useActiveDraft();
  const drafts = useDrafts((state) => state.drafts);
  const controls = useRunControls();
  const comparison = useComparison();
  const compareRows = useCompareRows();
  const focusTargets = useFocusTargets();
  const openDraft = useOpenDraft();
  const parts = useOpenParts();
  const focusEditor = (): void => {
    usePlaygroundView.setState({ promptView: 'template' });
    // The template may have to be drawn first.
    requestAnimationFrame(() => focusTargets.focus('prompt', draft.promptText.length));
  };
  useActions('playground', [
    ...runActions(controls, parts),
    ...compareActions(comparison, compareRows),
    ...viewActions(focusEditor),
    ...draftActions({ draft, drafts, openDraft, open: parts.open }),
  ]);
}
