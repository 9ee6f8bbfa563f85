import { FolderOpen, Play, RotateCcw, Save } from 'lucide-react';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { AppError } from '../../../../shared/app-error.ts';
import type { Comparison, ComparisonInput } from '../../../../shared/contract/comparisons.ts';
import { Button } from '../../../components/button.tsx';
import { formatTime } from '../../../components/format.ts';
import { Menu } from '../../../components/menu.tsx';
import { describeError, LoadingRows, QueryView } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import {
  useComparison,
  useComparisons,
  useCreateComparison,
  useRemoveComparison,
  useStartComparison,
} from '../../../queries/comparisons.ts';
import { comparisonAddress, comparisonSetupAddress, newComparisonAddress } from '../../../shell/addresses.ts';
import { useNavigateFromHere } from '../../../shell/navigate-from-here.ts';
import { useActions } from '../../../stores/actions.ts';
import { emptySetup, type SetupDraft, useComparisonDrafts } from '../../../stores/comparison-drafts.ts';
import { showToast } from '../../../stores/toasts.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { ChecksSection } from './checks-section.tsx';
import { EstimatePanel } from './estimate-panel.tsx';
import { InputsSection } from './inputs-section.tsx';
import { LimitsSection } from './limits-section.tsx';
import { type Setup, SetupProvider } from './setup-context.ts';
import { defaultName, firstRows, issueText } from './setup-draft.ts';
import { useHaveDrafts, useReadSetup, useSetupDraft } from './use-setup.ts';
import { VariantsSection } from './variants-section.tsx';
import './setup.css';

const maxLoadable = 30;

/** What stops a setup, if no field on the screen shows it. */
function failureText(error: unknown): string {
  if (!(error instanceof AppError) || error.details.length === 0) return describeError(error).message;
  return error.details.map(({ field, issue }) => `${field}: ${issueText(issue)}`).join('. ');
}

interface SavingOptions {
  comparison: Comparison | null;
  input: ComparisonInput | null;
  isChanged: boolean;
  draft: SetupDraft;
  onProblems: () => void;
}

/** Removes a draft that was saved. One that was edited meanwhile becomes the draft of the saved comparison. */
function removeSent(sent: SetupDraft, comparisonId: string): void {
  const { drafts, remove, write } = useComparisonDrafts.getState();
  const stored = drafts.find(({ id }) => id === sent.id);
  if (stored && stored !== sent) write({ ...stored, id: comparisonId });
  remove(sent.id);
}

type Navigate = ReturnType<ReturnType<typeof useNavigateFromHere>>;

/** Saves a setup as a comparison that is ready, and starts it. */
function useSaving({ comparison, input, isChanged, draft, onProblems }: SavingOptions) {
  const navigateFromHere = useNavigateFromHere();
  const create = useCreateComparison();
  const start = useStartComparison();
  const remove = useRemoveComparison();
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function save(body: ComparisonInput): Promise<string> {
    const isReady = comparison?.state === 'Ready';
    if (isReady && !isChanged) return comparison.id;
    const { id } = await create.mutateAsync(body);
    removeSent(draft, id);
    // A comparison never changes: a new one takes the place of one that has not started.
    if (isReady) await remove(comparison.id).catch(() => {});
    return id;
  }

  async function attempt(finish: (id: string, navigate: Navigate) => Promise<unknown> | void): Promise<void> {
    if (isBusy) return;
    const navigate = navigateFromHere();
    setFailure(null);
    if (!input) {
      onProblems();
      return setFailure('Fix the marked fields first.');
    }
    setBusy(true);
    try {
      const id = await save(input);
      try {
        await finish(id, navigate);
      } catch (error) {
        // The setup is saved. Its own address starts it without saving it twice.
        if (id !== comparison?.id) navigate(comparisonSetupAddress(id), { replace: true });
        throw error;
      }
    } catch (error) {
      onProblems();
      setFailure(failureText(error));
      showToast({ tone: 'negative', text: failureText(error) });
    } finally {
      setBusy(false);
    }
  }

  return {
    failure: input === null || failure !== 'Fix the marked fields first.' ? failure : null,
    isBusy,
    save: () =>
      void attempt((id, navigate) => {
        navigate(comparisonSetupAddress(id), { replace: true });
        showToast({ tone: 'neutral', text: 'Setup saved.' });
      }),
    start: (maxRows: number | null) =>
      void attempt(async (id, navigate) => {
        await start.mutateAsync({ id, ...(maxRows !== null && { maxRows }) });
        navigate(comparisonAddress(id));
      }),
  };
}

function LoadSetup() {
  const [, navigate] = useLocation();
  const comparisons = useComparisons().data ?? [];
  const item = ({ id, name, createdAt }: (typeof comparisons)[number]) => ({
    label: name,
    detail: formatTime(createdAt),
    onSelect: () => navigate(comparisonSetupAddress(id)),
  });
  const listed = comparisons.slice(0, maxLoadable);
  const groups = [
    listed.filter(({ state }) => state === 'Ready').map(item),
    listed.filter(({ state }) => state !== 'Ready').map(item),
  ].filter((group) => group.length > 0);
  if (groups.length === 0) return null;
  return (
    <Menu align="end" groups={groups}>
      <Button icon={FolderOpen}>Load setup</Button>
    </Menu>
  );
}

function stateText(comparison: Comparison | null, isChanged: boolean): string {
  if (!comparison) return 'Not saved';
  if (comparison.state !== 'Ready') return 'Copy of a comparison that has run';
  return isChanged ? 'Changed, not saved' : 'Saved, not run yet';
}

function Toolbar({
  setup,
  comparison,
  isChanged,
  onSave,
  isBusy,
}: {
  setup: Setup;
  comparison: Comparison | null;
  isChanged: boolean;
  onSave: () => void;
  isBusy: boolean;
}) {
  const { draft, change, dataset } = setup;
  const [, navigate] = useLocation();
  const discard = (): void => {
    const { remove, write } = useComparisonDrafts.getState();
    const before = draft;
    remove(before.id);
    // Without a stored draft, a new setup would start with the playground's prompt again.
    if (!comparison) write(emptySetup());
    showToast({
      tone: 'neutral',
      text: 'Changes discarded.',
      action: { label: 'Undo', run: () => write(before) },
    });
  };
  return (
    <div className="toolbar">
      <div className="setup__name">
        <TextField
          label="Name of the comparison"
          isLabelHidden
          maxLength={300}
          placeholder={defaultName(draft, dataset)}
          value={draft.name}
          onValueChange={(name) => change({ name })}
        />
      </div>
      <span className="small tertiary truncate">{stateText(comparison, isChanged)}</span>
      <span className="grow" />
      {isChanged && (
        <Button variant="quiet" icon={RotateCcw} onClick={discard}>
          {comparison ? 'Discard changes' : 'Clear'}
        </Button>
      )}
      {comparison && (
        <Button variant="quiet" onClick={() => navigate(newComparisonAddress)}>
          New setup
        </Button>
      )}
      <LoadSetup />
      <Button icon={Save} keys="Mod+S" isBusy={isBusy} onClick={onSave}>
        Save setup
      </Button>
    </div>
  );
}

/** Moves to the first marked field, which may be above or below what is on the screen. */
function showFirstProblem(fields: HTMLElement | null): void {
  requestAnimationFrame(() => {
    const marked = fields?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]');
    marked?.scrollIntoView({ block: 'nearest' });
    if (marked instanceof HTMLInputElement) marked.focus();
  });
}

function OpenSetup({ comparison }: { comparison: Comparison | null }) {
  const { draft, isChanged, change } = useSetupDraft(comparison);
  const read = useReadSetup(draft);
  const fields = useRef<HTMLDivElement>(null);
  const [areProblemsShown, setProblemsShown] = useState(false);
  const hasRejections = read.input !== null && read.problems.size > 0;
  const setup: Setup = { ...read, draft, change, areProblemsShown: areProblemsShown || hasRejections };
  const saving = useSaving({
    comparison,
    input: read.input,
    isChanged,
    draft,
    onProblems: () => {
      setProblemsShown(true);
      showFirstProblem(fields.current);
    },
  });
  const startAll = (): void => saving.start(draft.isFirstRowsOnly ? firstRows : null);
  const tryOne = (): void => saving.start(1);
  useShowPageTitle(draft.name || (comparison ? comparison.name : 'New comparison'));
  useActions('compare-setup', [
    { id: 'compare.start', title: 'Start comparison', group: 'Compare', icon: Play, keys: 'Mod+Enter', run: startAll },
    { id: 'compare.try', title: 'Try one row', group: 'Compare', icon: Play, keys: 'T', run: tryOne },
    { id: 'compare.save', title: 'Save setup', group: 'Compare', icon: Save, keys: 'Mod+S', run: saving.save },
  ]);
  return (
    <SetupProvider value={setup}>
      <Toolbar
        setup={setup}
        comparison={comparison}
        isChanged={isChanged}
        onSave={saving.save}
        isBusy={saving.isBusy}
      />
      <div className="setup">
        <div ref={fields} className="scroll setup__main" tabIndex={0} role="region" aria-label="Setup">
          <VariantsSection />
          <InputsSection />
          <ChecksSection />
          <LimitsSection />
        </div>
        <EstimatePanel isBusy={saving.isBusy} failure={saving.failure} onStart={startAll} onTry={tryOne} />
      </div>
    </SetupProvider>
  );
}

/** The variants, rows and checks of a comparison that has not started; null is a new one. */
export function SetupView({ comparisonId }: { comparisonId: string | null }) {
  const comparison = useComparison(comparisonId);
  if (!useHaveDrafts()) return <LoadingRows label="Loading the setup" rows={6} />;
  if (comparisonId === null) return <OpenSetup comparison={null} />;
  return (
    <QueryView query={comparison} subject="the setup" rows={6}>
      {(loaded) => <OpenSetup key={loaded.id} comparison={loaded} />}
    </QueryView>
  );
}
