import { Flag, UserPlus } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { ImportedRun, ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { ConversationRun } from '../../../../shared/contract/conversations.ts';
import { Badge } from '../../../components/badges.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { isFocusFree } from '../../../components/focus.ts';
import { formatTime, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { Select } from '../../../components/select.tsx';
import { LoadingRows, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useConversation } from '../../../queries/audit.ts';
import { useActions } from '../../../stores/actions.ts';
import { moveSelection, type QuoteKey } from './quotable-text.ts';
import {
  importedRun,
  type Part,
  type PartOption,
  partsOf,
  runSectionId,
  RunTexts,
  type ShownRun,
  storedRun,
} from './run-texts.tsx';
import '../../../components/run-detail.css';

/** Of the region with the text, from which people quote. */
export const reviewedTextId = 'reviewed-text';

/** The open part, and a key that opens the next one. */
function usePart(parts: readonly PartOption[]) {
  const [chosen, setPart] = useState<Part>('conversation');
  const index = Math.max(
    0,
    parts.findIndex(({ value }) => value === chosen),
  );
  const next = parts[(index + 1) % Math.max(1, parts.length)];
  useActions(
    'review-part',
    next
      ? [
          {
            id: 'review.part',
            title: 'Next part of the run',
            group: 'Review',
            keys: 'P',
            run: () => setPart(next.value),
          },
        ]
      : [],
  );
  return { part: parts[index]?.value ?? 'conversation', setPart };
}

/** Below it a run counts as the one that is read. */
const readFromPixels = 48;

/** Which run is at the top of the text, and keys that go to others. */
function useRunAtTop(runs: readonly ShownRun[], matchId: string | null) {
  const [topId, setTopId] = useState(runs[0]?.id ?? '');
  const index = Math.max(
    0,
    runs.findIndex(({ id }) => id === topId),
  );
  function show(run: ShownRun | undefined): void {
    if (!run) return;
    setTopId(run.id);
    // Runs without the open part aren't drawn.
    void document.getElementById(runSectionId(run.id))?.scrollIntoView({ block: 'start' });
  }
  function onScroll({ currentTarget }: { currentTarget: HTMLElement }): void {
    const { scrollTop, clientHeight, scrollHeight } = currentTarget;
    const chosen = document.getElementById(runSectionId(topId))?.offsetTop ?? 0;
    // The last runs can't get to the top. The one that was chosen stays chosen.
    if (scrollTop + clientHeight >= scrollHeight - 1 && chosen > scrollTop) return;
    const from = scrollTop + readFromPixels;
    const top = runs.findLast(({ id }) => (document.getElementById(runSectionId(id))?.offsetTop ?? Infinity) <= from);
    if (top) setTopId(top.id);
  }
  const match = runs.find(({ id }) => id === matchId);
  const go = (id: string, title: string, keys: string, run: ShownRun | undefined) => ({
    ...{ id, title, keys, group: 'Review' },
    run: () => show(run),
  });
  useActions(
    'review-runs',
    runs.length < 2
      ? []
      : [
          go('review.next-run', 'Next run of the conversation', '.', runs[index + 1]),
          go('review.previous-run', 'Previous run of the conversation', ',', runs[index - 1]),
          ...(match ? [go('review.match', 'Newest run that matches the filter', 'G', match)] : []),
        ],
  );
  return { topId: runs[index]?.id ?? '', show, onScroll };
}

/** Choosing a passage by keys, which Enter quotes in the review. */
export interface Quoting {
  readonly isOn: boolean;
  readonly end: () => void;
}

interface ReadingProps {
  item: ReviewItemDetail;
  itemType: ReviewQueue['itemType'];
  /** Only of an item that the caller reviews now. */
  quoting?: Quoting | undefined;
  /** At the right end of the header. */
  end?: ReactNode;
  /** Below the texts: reviews, where they may be seen. */
  children?: ReactNode;
}

const quoteKeys: ReadonlySet<string> = new Set<QuoteKey>(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

interface TextsProps extends Pick<ReadingProps, 'quoting' | 'children'> {
  runs: readonly ShownRun[];
  /** The run whose feedback the result becomes. */
  matchId: string | null;
}

interface BarProps extends Pick<TextsProps, 'runs' | 'quoting'> {
  parts: readonly PartOption[];
  part: Part;
  onPart: (part: Part) => void;
  topId: string;
  onRun: (run: ShownRun | undefined) => void;
}

function QuoteHint({ isOn }: { isOn: boolean }) {
  if (!isOn)
    return (
      <span className="caption tertiary nowrap row wide-only">
        Select text to quote it <KeyCaps keys="Q" />
      </span>
    );
  return (
    <span className="caption tertiary row review__quoting" role="status">
      <span className="nowrap">
        <KeyCaps keys="ArrowUp+ArrowDown" /> sentence
      </span>
      <span className="nowrap">
        <KeyCaps keys="ArrowLeft+ArrowRight" /> word
      </span>
      <span className="nowrap">
        <KeyCaps keys="Shift" /> moves the end
      </span>
      <span className="nowrap">
        <KeyCaps keys="Enter" /> quotes
      </span>
      <span className="nowrap">
        <KeyCaps keys="Escape" /> ends
      </span>
    </span>
  );
}

function Bar({ runs, quoting, parts, part, onPart, topId, onRun }: BarProps) {
  if (parts.length === 0 && runs.length < 2 && !quoting) return null;
  return (
    <div className="header header--line review__parts">
      {parts.length > 0 && <Segmented label="Part of the run" value={part} onValueChange={onPart} options={parts} />}
      <span className="grow" />
      {quoting && <QuoteHint isOn={quoting.isOn} />}
      {runs.length > 1 && (
        <Select
          label="Run of the conversation"
          size="small"
          value={topId}
          onValueChange={(id) => onRun(runs.find((run) => run.id === id))}
          options={runs.map(({ id, createdAt }, index) => ({
            value: id,
            label: `Run ${formatWhole(index + 1)} of ${formatWhole(runs.length)}, ${formatTime(createdAt)}`,
          }))}
        />
      )}
    </div>
  );
}

function Texts({ runs, matchId, quoting, children }: TextsProps) {
  const read = useRef<HTMLDivElement>(null);
  const parts = useMemo(() => partsOf(runs), [runs]);
  const { part, setPart } = usePart(parts);
  const { topId, show, onScroll } = useRunAtTop(runs, matchId);
  const isReserved = quoting !== undefined;
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    if (!quoting?.isOn || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') quoting.end();
    else if (quoteKeys.has(event.key)) moveSelection(event.currentTarget, event.key as QuoteKey, event.shiftKey);
    else return;
    event.preventDefault();
  };
  // Page Down scrolls the text of the next item at once, unless the person is typing or has chosen a run.
  useEffect(() => {
    if (isReserved && isFocusFree()) read.current?.focus({ preventScroll: true });
  }, [isReserved]);
  return (
    <>
      <Bar {...{ runs, quoting, parts, part, topId }} onPart={setPart} onRun={show} />
      <div
        id={reviewedTextId}
        className="scroll audit__read"
        ref={read}
        tabIndex={0}
        role="region"
        aria-label="Text to review"
        onScroll={runs.length > 1 ? onScroll : undefined}
        onKeyDown={onKeyDown}
        onBlur={() => quoting?.isOn && quoting.end()}
      >
        <RunTexts runs={runs} part={part} matchId={matchId} />
        {children}
      </div>
    </>
  );
}

interface StoredTextsProps extends Omit<TextsProps, 'runs'> {
  stored: readonly ConversationRun[];
}

function StoredRuns({ stored, ...texts }: StoredTextsProps) {
  // The same objects, so that the texts aren't drawn again.
  const runs = useMemo(() => stored.map(storedRun), [stored]);
  return <Texts {...texts} runs={runs} />;
}

function StoredTexts({ item, itemType, quoting, children }: ReadingProps) {
  const conversation = useConversation(item.conversationId);
  const all = conversation.data?.runs;
  const stored = useMemo(
    () => (itemType === 'run' ? all?.filter(({ conversationRunId: id }) => id === item.runId) : all) ?? [],
    [all, itemType, item.runId],
  );
  // The query shows the conversation before until the next one is loaded: that one must not be reviewed.
  if (conversation.data && conversation.data.id !== item.conversationId)
    return <LoadingRows label="Loading" rows={8} />;
  return (
    <QueryView query={conversation} subject="the conversation" rows={8}>
      {() =>
        stored.length === 0 ? (
          <Notice tone="caution">The run was deleted. Skip this item.</Notice>
        ) : (
          <StoredRuns stored={stored} matchId={item.runId} quoting={quoting}>
            {children}
          </StoredRuns>
        )
      }
    </QueryView>
  );
}

function ImportedConversation({
  item,
  imported,
  quoting,
  children,
}: ReadingProps & { imported: readonly ImportedRun[] }) {
  const runs = useMemo(() => imported.map(importedRun), [imported]);
  if (runs.length === 0) return <Notice tone="caution">The file has no text for this item. Skip it.</Notice>;
  return (
    <Texts runs={runs} matchId={item.runId} quoting={quoting}>
      {children}
    </Texts>
  );
}

function Detail({ name, value }: { name: string; value: string | null }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd className="truncate">{value}</dd>
    </div>
  );
}

/** The conversation or run of an item. */
export function ReadingPanel(props: ReadingProps) {
  const { item, end } = props;
  return (
    <section className="panel review__read" aria-label="Conversation">
      <div className="header header--line audit__title">
        <h2 className="truncate">{item.title}</h2>
        {item.isFlagged === true && (
          <Badge tone="caution">
            <Icon icon={Flag} size="small" />
            Flagged
          </Badge>
        )}
        {item.secondReview && (
          <Badge isOutlined>
            <Icon icon={UserPlus} size="small" />
            Second review
          </Badge>
        )}
        <span className="grow" />
        {end}
      </div>
      {(item.caller !== null || item.runAt !== null) && (
        <div className="audit__facts">
          <dl className="inline-facts">
            <Detail name="Caller" value={item.caller} />
            <Detail name="Created" value={item.runAt && formatTime(item.runAt)} />
            <Detail name="Group" value={item.stratum === 'all' ? null : item.stratum} />
          </dl>
        </div>
      )}
      {item.runs ? <ImportedConversation {...props} imported={item.runs} /> : <StoredTexts {...props} />}
    </section>
  );
}
