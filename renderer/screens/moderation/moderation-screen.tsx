import { List } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { Popover } from '../../components/popover.tsx';
import { ErrorFailure, LoadingRows } from '../../components/state-panels.tsx';
import { useSettings } from '../../queries/settings.ts';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { usePlace } from '../../stores/activity.ts';
import { useModerationStore } from '../../stores/moderation.ts';
import { useModerationAddress } from './moderation-address.ts';
import { ListPane } from './list-pane.tsx';
import { ModerationToolbar } from './moderation-toolbar.tsx';
import './moderation.css';
import { ScoresSide } from './scores-side.tsx';
import { TextPanel } from './text-panel.tsx';
import { useLoadTexts } from './use-load-texts.ts';
import { useModerationActions } from './use-moderation-actions.ts';
import { useOpenText } from './use-open-text.ts';
import { useShownBatch } from './use-shown-batch.ts';
import { useThresholds } from './use-thresholds.ts';

/** Until the thresholds are loaded. */
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

/** The list where the window is too narrow for a panel of it. */
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

/** One text or a batch against five thresholds, by one or two classifiers, measured on human-labelled texts. */
export function ModerationScreen() {
  const address = useModerationAddress();
  const file = useRef<HTMLInputElement>(null);
  const mustHaveLabels = useRef(false);
  const [isPasting, setPasting] = useState(false);
  const [isGuardOpen, setGuardOpen] = useState(false);
  const isWide = useMediaQuery('(min-width: 1100px)');
  const { text, first: chosen, second, labelledId } = useModerationStore();
  const settings = useSettings().data;
  const first = chosen ?? settings?.moderation.classifier ?? null;
  const classifiers = first ? [first, ...(second ? [second] : [])] : [];
  const limits = useThresholds(first);
  const { thresholds } = limits;
  const { batch, labelled, results, share } = useShownBatch(address.batchId, labelledId, thresholds);
  const open = useOpenText(batch, results, address.index ?? (batch ? 0 : null), thresholds);
  const load = useLoadTexts(classifiers, (id) => address.openBatch(id, 0));
  usePlace(batch?.name ?? null);

  const check = (checkedText: string) => {
    address.openText();
    if (checkedText !== '' && first) {
      useModerationStore.setState({ text: checkedText, checked: { text: checkedText, classifiers } });
    }
  };
  const chooseFile = (isLabelled: boolean) => {
    mustHaveLabels.current = isLabelled;
    file.current?.click();
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

  if (!thresholds) {
    return <Waiting error={limits.error} onRetry={limits.retry} />;
  }

  const list = (
    <ListPane
      batch={batch}
      results={results}
      thresholds={thresholds}
      address={address}
      load={load}
      onFile={() => chooseFile(false)}
    />
  );
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
          onExample={check}
          judged={open.judged}
          flags={open.flags}
          nearest={open.nearest}
          canExplain={open.canExplain}
          passages={open.passages}
          isBusy={open.isBusy}
          start={isWide ? null : <ListButton>{list}</ListButton>}
        />
        <ScoresSide
          open={open}
          batch={batch}
          share={share}
          limits={limits}
          isMeasured={first?.kind === 'on-device'}
          thresholds={thresholds}
          labelled={labelled}
          onLoad={() => chooseFile(true)}
        />
      </div>
    </>
  );
}
