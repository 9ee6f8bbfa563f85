import { List } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { Popover } from '../../components/popover.tsx';
import { ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useSettings } from '../../queries/settings.ts';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { type ModerationAddress, useModerationAddress } from '../../shell/addresses.ts';
import { ListPane } from './text-list.tsx';
import { ModerationToolbar } from './moderation-toolbar.tsx';
import { ScoresSide } from './scores-side.tsx';
import { TextPanel } from './text-panel.tsx';
import { type LoadTexts, type OpenText, useLoadTexts, useOpenText } from './use-texts.ts';
import { type Thresholds, useThresholds } from './use-thresholds.ts';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { useBatches, useBatchResults } from '../../queries/moderation.ts';
import { flaggedShare, type FlaggedShare } from './quality-figures.ts';
import { useActions } from '../../stores/actions.ts';
import './moderation.css';

interface ModerationActions {
  address: ModerationAddress;
  batch: Batch | undefined;
  limits: Thresholds;
  check: () => void;
  chooseFile: () => void;
  openPaste: () => void;
  openGuard: () => void;
}

/** The commands and keys of the screen. */
function useModerationActions(actions: ModerationActions): void {
  const { address, batch, limits, check, chooseFile, openPaste, openGuard } = actions;
  const move = (by: number) => {
    const next = (address.index ?? 0) + by;
    if (batch && next >= 0 && next < batch.total) address.openBatch(batch.id, next);
  };
  const group = 'Moderation';
  useActions('moderation', [
    { id: 'moderation.check', title: 'Check text', group, keys: 'Mod+Enter', run: check },
    {
      id: 'moderation.file',
      title: 'Import file to check',
      group,
      keywords: ['CSV', 'JSONL', 'labelled'],
      run: chooseFile,
    },
    { id: 'moderation.paste', title: 'Paste lines to check', group, run: openPaste },
    { id: 'moderation.guard', title: 'Guard for prompts and answers', group, run: openGuard },
    { id: 'moderation.reset', title: 'Reset thresholds', group, isEnabled: limits.isMoved, run: limits.reset },
    { id: 'moderation.one', title: 'Single text', group, isEnabled: batch !== undefined, run: address.openText },
    { id: 'moderation.next', title: 'Next text', group, keys: 'J', isEnabled: batch !== undefined, run: () => move(1) },
    {
      id: 'moderation.back',
      title: 'Previous text',
      group,
      keys: 'K',
      isEnabled: batch !== undefined,
      run: () => move(-1),
    },
  ]);
}

const noResults: readonly BatchResult[] = [];

interface ShownTexts {
  /** The single text, or the selected one of the batch. */
  open: OpenText;
  /** Undefined for a single text. */
  batch: Batch | undefined;
  /** The human-labelled texts that classifiers are measured on. */
  labelled: Batch | undefined;
  results: readonly BatchResult[];
  share: FlaggedShare;
}

/** The texts of the address with their scores. */
function useShownTexts({ batchId, index }: ModerationAddress, thresholds: CategoryScores | null): ShownTexts {
  const { labelledId } = useModerationStore();
  const batches = useBatches().data?.data;
  const batch = batches?.find(({ id }) => id === batchId);
  const results = useBatchResults(batch).data?.results ?? noResults;
  const share = useMemo(
    () => (thresholds ? flaggedShare(results, thresholds) : { flagged: [], differ: [], judged: 0, compared: 0 }),
    [results, thresholds],
  );
  const open = useOpenText(batch, results, index ?? (batch ? 0 : null), thresholds);
  return { open, batch, labelled: batches?.find(({ id }) => id === labelledId), results, share };
}

/** Shown until the thresholds have loaded. */
function Waiting({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!error) return <LoadingRows label="Loading thresholds" rows={8} />;
  return (
    <div className="list-state">
      <ErrorFailure title="Couldn't load the thresholds" error={error}>
        <Button onClick={onRetry}>Retry</Button>
      </ErrorFailure>
    </div>
  );
}

/** The list if the window is too narrow for a panel. */
function ListButton({ children }: { children: ReactNode }) {
  return (
    <Popover
      label="Texts"
      className="moderation__list-menu"
      trigger={<IconButton icon={List} label="Select a text" size="small" />}
    >
      {children}
    </Popover>
  );
}

/** The selected classifiers, and a check with them. The first one is null until the settings have loaded. */
function useClassifiers() {
  const { first: chosen, second } = useModerationStore();
  const settings = useSettings().data;
  const first = chosen ?? settings?.moderation.classifier ?? null;
  const classifiers = first ? [first, ...(second ? [second] : [])] : [];
  const checkText = (text: string) => {
    if (text !== '' && first) useModerationStore.setState({ text, checked: { text, classifiers } });
  };
  return { first, second, classifiers, checkText };
}

/** The file field, and the function that opens its dialog. */
function useFileField() {
  const file = useRef<HTMLInputElement>(null);
  const mustHaveLabels = useRef(false);
  const chooseFile = (isLabelled: boolean) => {
    mustHaveLabels.current = isLabelled;
    file.current?.click();
  };
  return { file, mustHaveLabels, chooseFile };
}

interface PanelsProps {
  address: ModerationAddress;
  shown: ShownTexts;
  load: LoadTexts;
  limits: Thresholds;
  thresholds: CategoryScores;
  isMeasured: boolean;
  onCheck: (text: string) => void;
  onChooseFile: (isLabelled: boolean) => void;
}

/** The list of texts, the open text and its scores. */
function ModerationPanels(props: PanelsProps) {
  const { address, shown, load, limits, thresholds, isMeasured, onCheck, onChooseFile } = props;
  const { open, batch, labelled, results, share } = shown;
  const isWide = useMediaQuery('(min-width: 1100px)');
  const list = (
    <ListPane
      batch={batch}
      results={results}
      thresholds={thresholds}
      address={address}
      load={load}
      onFile={() => onChooseFile(false)}
    />
  );
  return (
    <div className={classNames('moderation', !isWide && 'moderation--narrow')}>
      {isWide && (
        <section className="panel panel--inset line-right moderation__list" aria-label="Texts">
          {list}
        </section>
      )}
      <TextPanel
        open={open}
        onText={batch ? undefined : (text) => useModerationStore.setState({ text })}
        onExample={onCheck}
        start={isWide ? null : <ListButton>{list}</ListButton>}
      />
      <ScoresSide
        open={open}
        batch={batch}
        share={share}
        limits={limits}
        isMeasured={isMeasured}
        thresholds={thresholds}
        labelled={labelled}
        onLoad={() => onChooseFile(true)}
      />
    </div>
  );
}

/** One text or a batch against five thresholds, by one or two classifiers, measured on human-labelled texts. */
export function ModerationScreen() {
  const address = useModerationAddress();
  const { file, mustHaveLabels, chooseFile } = useFileField();
  const [isPasting, setPasting] = useState(false);
  const [isGuardOpen, setGuardOpen] = useState(false);
  const { text } = useModerationStore();
  const { first, second, classifiers, checkText } = useClassifiers();
  const limits = useThresholds(first);
  const { thresholds } = limits;
  const shown = useShownTexts(address, thresholds);
  const { batch, open } = shown;
  const load = useLoadTexts(classifiers);
  useShowPageTitle(batch?.name ?? null);

  const check = (checkedText: string) => {
    address.openText();
    checkText(checkedText);
  };
  useModerationActions({
    address,
    batch,
    limits,
    check: () => check(text),
    chooseFile: () => chooseFile(false),
    openPaste: () => setPasting(true),
    openGuard: () => setGuardOpen(true),
  });

  if (!thresholds) return <Waiting error={limits.error} onRetry={limits.retry} />;
  return (
    <>
      <ModerationToolbar
        load={load}
        file={file}
        onFile={(selected) => load.fromFile(selected, mustHaveLabels.current)}
        onChooseFile={() => chooseFile(false)}
        batch={batch}
        thresholds={thresholds}
        first={first}
        second={second}
        isPasting={isPasting}
        onPasting={setPasting}
        isGuardOpen={isGuardOpen}
        onGuardOpen={setGuardOpen}
        isBusy={batch === undefined && open.isBusy}
        onCheck={() => check(text)}
      />
      <ModerationPanels
        address={address}
        shown={shown}
        load={load}
        limits={limits}
        thresholds={thresholds}
        isMeasured={first?.kind === 'on-device'}
        onCheck={check}
        onChooseFile={chooseFile}
      />
    </>
  );
}
