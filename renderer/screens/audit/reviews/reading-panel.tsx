import { Flag, UserPlus } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ImportedRun, ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import type { ConversationRun } from '../../../../shared/contract/conversations.ts';
import { Badge } from '../../../components/badges.tsx';
import { Segmented } from '../../../components/choices.tsx';
import { formatTime } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import { Select } from '../../../components/select.tsx';
import { LoadingRows, Notice, QueryView } from '../../../components/state-panels.tsx';
import { useConversation } from '../../../queries/audit.ts';
import { useActions } from '../../../stores/actions.ts';
import { ConversationPart, countToolCalls, Passages, PromptPart, ToolCallsPart } from '../detail/run-parts.tsx';
import '../../../components/run-detail.css';

/** Of the region with the text, from which people quote. */
export const reviewedTextId = 'reviewed-text';

interface RunChoiceProps {
  runs: readonly { readonly id: string; readonly createdAt: string }[];
  openId: string;
  onOpen: (id: string) => void;
}

function RunChoice({ runs, openId, onOpen }: RunChoiceProps) {
  if (runs.length < 2) return null;
  return (
    <Select
      label="Run of the conversation"
      size="small"
      value={openId}
      onValueChange={onOpen}
      options={runs.map(({ id, createdAt }, index) => ({
        value: id,
        label: `Run ${index + 1} of ${runs.length}, ${formatTime(createdAt)}`,
      }))}
    />
  );
}

/** What is shown of a run. */
type Part = 'conversation' | 'prompt' | 'passages' | 'calls';

interface PartOption {
  readonly value: Part;
  readonly label: string;
}

function partsOf(run: ConversationRun): PartOption[] {
  const calls = countToolCalls(run);
  return [
    { value: 'conversation', label: 'Conversation' },
    { value: 'prompt', label: 'Rendered prompt' },
    ...(run.citations.length > 0 ? [{ value: 'passages' as const, label: `Passages ${run.citations.length}` }] : []),
    ...(calls > 0 ? [{ value: 'calls' as const, label: `Tool calls ${calls}` }] : []),
  ];
}

function partsOfImported({ passages }: ImportedRun): PartOption[] {
  if (passages.length === 0) return [];
  return [
    { value: 'conversation', label: 'Conversation' },
    { value: 'passages', label: `Passages ${passages.length}` },
  ];
}

function RunPart({ run, part }: { run: ConversationRun; part: Part }) {
  if (part === 'prompt') return <PromptPart run={run} />;
  if (part === 'passages') return <Passages run={run} />;
  if (part === 'calls') return <ToolCallsPart run={run} />;
  return <ConversationPart run={run} />;
}

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
    next && parts.length > 1
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

/** A run that came in a file, whose audit is on another machine. */
function ImportedTexts({ run, part }: { run: ImportedRun; part: Part }) {
  const passages = <ImportedPassages run={run} />;
  if (part === 'passages') return passages;
  return (
    <>
      <article className="turn">
        <h3>Input</h3>
        <p className="turn__text">{run.input}</p>
      </article>
      <article className="turn">
        <h3>Answer</h3>
        <div className="turn__body">
          <MarkdownView text={run.answer} isGrowing={false} />
        </div>
      </article>
      {passages}
    </>
  );
}

function ImportedPassages({ run }: { run: ImportedRun }) {
  return run.passages.map(({ sourceName, text }, index) => (
    <article key={index} className="turn turn--note">
      <h3>Passage {index + 1}</h3>
      <p>
        <span className="secondary">{sourceName}.</span> {text}
      </p>
    </article>
  ));
}

interface ReadingProps {
  item: ReviewItemDetail;
  itemType: ReviewQueue['itemType'];
  /** The caller reviews it now. */
  isReserved?: boolean;
  /** At the right end of the header. */
  end?: ReactNode;
  /** Below the texts: reviews, where they may be seen. */
  children?: ReactNode;
}

interface TextsProps extends Pick<ReadingProps, 'isReserved' | 'children'> {
  /** Which of several runs is open. */
  choice: ReactNode;
  parts: readonly PartOption[];
  part: Part;
  onPart: (part: Part) => void;
}

function Texts({ isReserved = false, choice, parts, part, onPart, children }: TextsProps) {
  const read = useRef<HTMLDivElement>(null);
  // Page Down scrolls the text of the next item at once, unless the person is typing or has chosen a run.
  useEffect(() => {
    if (isReserved && document.activeElement === document.body) read.current?.focus({ preventScroll: true });
  }, [isReserved]);
  return (
    <>
      {(parts.length > 0 || choice || isReserved) && (
        <div className="header header--line review__parts">
          {parts.length > 0 && (
            <Segmented label="Part of the run" value={part} onValueChange={onPart} options={parts} />
          )}
          <span className="grow" />
          {choice ||
            (isReserved && (
              <span className="caption tertiary nowrap row wide-only">
                Select text to quote it <KeyCaps keys="Q" />
              </span>
            ))}
        </div>
      )}
      <div
        id={reviewedTextId}
        className="scroll audit__read"
        ref={read}
        tabIndex={0}
        role="region"
        aria-label="Text to review"
      >
        {children}
      </div>
    </>
  );
}

function StoredTexts({ item, itemType, isReserved = false, children }: ReadingProps) {
  const conversation = useConversation(item.conversationId);
  const [chosen, setChosen] = useState(item.runId);
  // The query shows the conversation before until the next one is loaded: that one must not be reviewed.
  if (conversation.data && conversation.data.id !== item.conversationId)
    return <LoadingRows label="Loading" rows={8} />;
  return (
    <QueryView query={conversation} subject="the conversation" rows={8}>
      {({ runs: all }) => {
        const runs = itemType === 'run' ? all.filter(({ conversationRunId: id }) => id === item.runId) : all;
        const run = runs.find(({ conversationRunId: id }) => id === chosen) ?? runs.at(-1);
        if (!run) return <Notice tone="caution">The run was deleted. Skip this item.</Notice>;
        const list = runs.map(({ conversationRunId: id, createdAt }) => ({ id, createdAt }));
        const choice = list.length > 1 && (
          <RunChoice runs={list} openId={run.conversationRunId} onOpen={(id) => setChosen(id)} />
        );
        return (
          <StoredRun key={run.conversationRunId} run={run} isReserved={isReserved} choice={choice}>
            {children}
          </StoredRun>
        );
      }}
    </QueryView>
  );
}

interface StoredRunProps extends Pick<TextsProps, 'isReserved' | 'choice' | 'children'> {
  run: ConversationRun;
}

function StoredRun({ run, children, ...texts }: StoredRunProps) {
  const parts = partsOf(run);
  const { part, setPart } = usePart(parts);
  return (
    <Texts {...texts} parts={parts} part={part} onPart={setPart}>
      <RunPart run={run} part={part} />
      {children}
    </Texts>
  );
}

function ImportedConversation({ runs, isReserved = false, children }: ReadingProps & { runs: readonly ImportedRun[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const run = runs.find(({ runId }) => runId === chosen) ?? runs.at(-1);
  const parts = run ? partsOfImported(run) : [];
  const { part, setPart } = usePart(parts);
  if (!run) return <Notice tone="caution">The file has no text for this item. Skip it.</Notice>;
  const list = runs.map(({ runId, createdAt }) => ({ id: runId, createdAt }));
  const choice = list.length > 1 && <RunChoice runs={list} openId={run.runId} onOpen={setChosen} />;
  return (
    <Texts isReserved={isReserved} choice={choice} parts={parts} part={part} onPart={setPart}>
      <ImportedTexts run={run} part={part} />
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
      {item.runs ? <ImportedConversation {...props} runs={item.runs} /> : <StoredTexts {...props} />}
    </section>
  );
}
