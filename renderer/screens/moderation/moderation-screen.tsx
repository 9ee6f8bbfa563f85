import { List } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { Batch, BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { Popover } from '../../components/popover.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useBatches, useBatchResults, useStopBatch } from '../../queries/moderation.ts';
import { useSettings } from '../../queries/settings.ts';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { useActions } from '../../stores/actions.ts';
import { usePlace } from '../../stores/activity.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { useModerationAddress, type ModerationAddress } from './moderation-address.ts';
import { ModerationToolbar } from './moderation-toolbar.tsx';
import './moderation.css';
import { flaggedShare } from './quality-figures.ts';
import { QualityPanel } from './quality-panel.tsx';
import { ScoresPanel } from './scores-panel.tsx';
import { TextList } from './text-list.tsx';
import { TextPanel } from './text-panel.tsx';
import { useLoadTexts, type LoadTexts } from './use-load-texts.ts';
import { useOpenText } from './use-open-text.ts';
import { useThresholds } from './use-thresholds.ts';

const noResults: readonly BatchResult[] = [];

interface ListPaneProps {
  batch: Batch | undefined;
  results: readonly BatchResult[];
  thresholds: CategoryScores;
  address: ModerationAddress;
  load: LoadTexts;
  onFile: () => void;
}

function ListPane({ batch, results, thresholds, address, load, onFile }: ListPaneProps) {
  const shown = useModerationStore((state) => state.shown);
  const stop = useStopBatch();
  const share = useMemo(() => flaggedShare(results, thresholds), [results, thresholds]);
  if (batch) {
    return (
      <>
        <TextList
          batch={batch}
          results={results}
          share={share}
          shown={shown === 'differ' && batch.classifiers.length === 1 ? 'all' : shown}
          onShown={(next) => useModerationStore.setState({ shown: next })}
          selected={address.index}
          onSelect={(index) => address.openBatch(batch.id, index)}
          onStop={() => stop.mutate(batch.id)}
        />
        <div className="moderation__back line-top">
          <Button size="small" variant="quiet" onClick={address.openText}>
            Back to one text
          </Button>
        </div>
      </>
    );
  }
  if (load.error) return <ErrorFailure title="The texts could not be taken" error={load.error} />;
  if (address.batchId !== null) {
    return (
      <EmptyState
        title="These texts are gone"
        reason="Loaded texts are kept in memory, eight sets at most, until the service ends."
      >
        <Button onClick={address.openText}>Back to one text</Button>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="Many texts"
      reason="TXT with a text a line, CSV or JSONL with a column text or prompt; pasted lines; or what the audit has."
    >
      <Button isBusy={load.isBusy} onClick={onFile}>
        Texts from file
      </Button>
    </EmptyState>
  );
}

/** One text or many against five thresholds, by one or two classifiers, measured on texts that people have judged. */
export function ModerationScreen() {
  const address = useModerationAddress();
  const file = useRef<HTMLInputElement>(null);
  const [isPasting, setPasting] = useState(false);
  const [isGuardOpen, setGuardOpen] = useState(false);
  const isWide = useMediaQuery('(min-width: 1100px)');
  const { text, first: chosen, second, category, labelledId } = useModerationStore();
  const settings = useSettings();
  const first = chosen ?? settings.data?.moderation.classifier ?? null;
  const classifiers = first ? [first, ...(second ? [second] : [])] : [];
  const limits = useThresholds(first);
  const { thresholds } = limits;
  const batches = useBatches();
  const batch = batches.data?.data.find(({ id }) => id === address.batchId);
  const labelled = batches.data?.data.find(({ id }) => id === labelledId);
  const results = useBatchResults(batch).data?.results ?? noResults;
  const labelledResults = useBatchResults(labelled).data?.results ?? noResults;
  const open = useOpenText(batch, results, address.index ?? (batch ? 0 : null), thresholds);
  const share = useMemo(
    () => (thresholds ? flaggedShare(results, thresholds) : { flagged: [], differ: [], judged: 0 }),
    [results, thresholds],
  );
  const load = useLoadTexts(classifiers, (id) => address.openBatch(id, 0));
  usePlace(batch?.name ?? null);

  const check = () => {
    address.openText();
    if (text !== '' && first) useModerationStore.setState({ checked: { text, classifiers } });
  };
  const chooseFile = () => file.current?.click();
  const move = (by: number) => {
    const next = (address.index ?? 0) + by;
    if (batch && next >= 0 && next < batch.total) address.openBatch(batch.id, next);
  };
  const group = 'Moderation';
  useActions('moderation', [
    { id: 'moderation.check', title: 'Check the text', group, keys: 'Mod+Enter', run: check },
    { id: 'moderation.file', title: 'Texts from file', group, keywords: ['CSV', 'JSONL', 'labelled'], run: chooseFile },
    { id: 'moderation.paste', title: 'Paste lines to check', group, run: () => setPasting(true) },
    { id: 'moderation.guard', title: 'Guard of prompts and answers', group, run: () => setGuardOpen(true) },
    { id: 'moderation.reset', title: 'Reset thresholds', group, isEnabled: limits.isMoved, run: limits.reset },
    { id: 'moderation.one', title: 'Check one text', group, isEnabled: batch !== undefined, run: address.openText },
    { id: 'moderation.next', title: 'Next text', group, keys: 'J', isEnabled: batch !== undefined, run: () => move(1) },
    {
      id: 'moderation.back',
      title: 'Text before it',
      group,
      keys: 'K',
      isEnabled: batch !== undefined,
      run: () => move(-1),
    },
  ]);

  if (!thresholds) {
    return settings.error ? (
      <ErrorFailure title="Touchstone could not read the settings" error={settings.error}>
        <Button onClick={() => void settings.refetch()}>Try again</Button>
      </ErrorFailure>
    ) : (
      <LoadingRows label="Reading the classifier" rows={8} />
    );
  }

  const list = (
    <ListPane
      batch={batch}
      results={results}
      thresholds={thresholds}
      address={address}
      load={load}
      onFile={chooseFile}
    />
  );
  const listButton = (
    <Popover
      label="Texts"
      className="moderation__list-menu"
      trigger={<IconButton icon={List} label="Choose a text" size="small" />}
    >
      {list}
    </Popover>
  );
  return (
    <>
      <ModerationToolbar
        load={load}
        file={file}
        batch={batch}
        thresholds={thresholds}
        first={first}
        second={second}
        isPasting={isPasting}
        onPasting={setPasting}
        isGuardOpen={isGuardOpen}
        onGuardOpen={setGuardOpen}
        isBusy={batch === undefined && open.isBusy}
        onCheck={check}
      />
      <div className={classNames('moderation', !isWide && 'moderation--narrow')}>
        {isWide && (
          <section className="panel panel--inset line-right moderation__list" aria-label="Texts">
            {list}
          </section>
        )}
        <TextPanel
          title={open.title}
          text={open.text}
          onText={batch ? undefined : (next) => useModerationStore.setState({ text: next })}
          judged={open.judged}
          flags={open.flags}
          passages={open.passages}
          isBusy={open.isBusy}
          start={isWide ? null : listButton}
        />
        <section className="panel line-left moderation__scores scroll" aria-label="Scores">
          {open.error ? (
            <ErrorFailure title="The text could not be checked" error={open.error}>
              <Button onClick={open.retry}>Try again</Button>
            </ErrorFailure>
          ) : null}
          <ScoresPanel
            verdicts={open.verdicts}
            thresholds={thresholds}
            batch={batch}
            share={share}
            onThreshold={limits.move}
            onCategory={(next) => useModerationStore.setState({ category: next })}
            isMoved={limits.isMoved}
            onReset={limits.reset}
            onSave={limits.save}
            isSaving={limits.isSaving}
          />
          <QualityPanel
            batch={labelled}
            results={labelledResults}
            thresholds={thresholds}
            category={category}
            onCategory={(next) => useModerationStore.setState({ category: next })}
            onThreshold={limits.move}
            onLoad={chooseFile}
          />
        </section>
      </div>
    </>
  );
}
