import { ChevronDown, ChevronUp, CircleDot } from 'lucide-react';
import { type KeyboardEvent, memo, type ReactNode, type RefObject, useRef } from 'react';
import type { ConversationDetail as Conversation, ConversationRun } from '../../../../shared/contract/conversations.ts';
import { classNames } from '../../../components/class-names.ts';
import { useFindHighlights } from '../../../components/text-highlights.ts';
import { formatPlural, formatRunDuration, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { statusWords } from '../list/conversation-list.tsx';
import type { AuditFacets } from '../../../../shared/contract/audit.ts';
import { Segmented } from '../../../components/choices.tsx';
import { ProviderExchanges } from '../../../components/provider-exchanges.tsx';
import { IconButton } from '../../../components/button.tsx';
import { Badge } from '../../../components/badges.tsx';
import { auditAddress } from '../../../shell/audit-address.ts';
import { CopyLink } from '../../../shell/links.tsx';
import { type RunPart, useAuditViewState } from '../../../stores/audit.ts';
import { FeedbackPanel } from './feedback-panel.tsx';
import { ConversationDetails, HeadersPart, JsonPart, TimingPart } from './run-details.tsx';
import { ConversationPart, Passages, PromptPart } from './run-parts.tsx';
import '../../../components/run-detail.css';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

function runMeasures({ timing, usage }: ConversationRun): string {
  const measures = [
    timing.totalMs === null ? null : formatRunDuration(timing.totalMs),
    usage ? formatPlural(usage.total_tokens, 'token') : null,
  ];
  return measures.filter((measure) => measure !== null).join(', ');
}

/** A clock time with seconds, because runs follow each other fast; with the date if the conversation spans several days. */
function startOf(run: ConversationRun, runs: readonly ConversationRun[]): string {
  const days = new Set(runs.map(({ createdAt }) => new Date(createdAt).toDateString()));
  return (days.size === 1 ? clock : dayAndClock).format(new Date(run.createdAt));
}

/** The number of the run that it continues with results of tool calls; null for others. */
function continuedNumber({ metadata }: ConversationRun, runs: readonly ConversationRun[]): number | null {
  const ids = metadata?.['continuedRunIds'];
  const last: unknown = Array.isArray(ids) ? ids.at(-1) : null;
  const index = runs.findIndex(({ conversationRunId }) => conversationRunId === last);
  return index < 0 ? null : index + 1;
}

interface RunListProps {
  runs: readonly ConversationRun[];
  openId: string;
  /** The runs that match the filter. */
  matchedIds: readonly string[];
  onOpen: (runId: string) => void;
}

/** The runs of a conversation, to open one of them. */
function RunList({ runs, openId, matchedIds, onOpen }: RunListProps) {
  return (
    <div className="audit__runs scroll" role="group" aria-label="Runs of this conversation" tabIndex={-1}>
      {runs.map((run, index) => {
        const continued = continuedNumber(run, runs);
        const isOpen = run.conversationRunId === openId;
        return (
          <button
            key={run.conversationRunId}
            type="button"
            className={classNames('run-row', isOpen && 'is-selected')}
            aria-expanded={isOpen}
            onClick={() => onOpen(run.conversationRunId)}
          >
            <span className="run-row__mark">{isOpen && <Icon icon={CircleDot} size="small" />}</span>
            <span className="medium nowrap">Run {index + 1}</span>
            <span className="tertiary nowrap">{startOf(run, runs)}</span>
            <span className="truncate">{run.model}</span>
            {continued !== null && <span className="caption tertiary nowrap">continues run {continued}</span>}
            <span className="grow caption accent">
              {matchedIds.length < runs.length && matchedIds.includes(run.conversationRunId) && 'matches'}
            </span>
            {run.status !== 'Completed' && (
              <span className={classNames('nowrap', statusWords[run.status].tone)}>{statusWords[run.status].word}</span>
            )}
            <span className="tertiary nowrap numbers">{runMeasures(run)}</span>
          </button>
        );
      })}
    </div>
  );
}

interface PartProps {
  part: RunPart;
  run: ConversationRun;
  conversationId: string;
}

/** Renders again only when another run or part is opened: an answer may be long. */
const Part = memo(function Part({ part, run, conversationId }: PartProps) {
  if (part === 'prompt') return <PromptPart run={run} />;
  if (part === 'passages') return <Passages run={run} />;
  if (part === 'headers') return <HeadersPart run={run} conversationId={conversationId} />;
  if (part === 'timing') return <TimingPart run={run} />;
  if (part === 'provider') {
    if (run.status === 'Running') return <p className="turn tertiary">Shown when the run ends.</p>;
    return <ProviderExchanges runId={run.conversationRunId} />;
  }
  if (part === 'json') return <JsonPart run={run} />;
  return <ConversationPart run={run} />;
});

function partOptions(run: ConversationRun): { value: RunPart; label: ReactNode }[] {
  return [
    { value: 'conversation', label: 'Conversation' },
    { value: 'prompt', label: 'Prompt' },
    ...(run.citations.length > 0 ? [{ value: 'passages' as const, label: `Passages ${run.citations.length}` }] : []),
    { value: 'headers', label: 'Headers' },
    { value: 'timing', label: 'Timing' },
    { value: 'provider', label: 'Provider' },
    { value: 'json', label: 'JSON' },
  ];
}

const answerViews = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'plain', label: 'Plain' },
] as const;

interface ConversationDetailProps {
  detailRef: RefObject<HTMLElement | null>;
  conversation: Conversation;
  facets: AuditFacets | undefined;
  run: ConversationRun;
  matchedIds: readonly string[];
  /** `2 of 214`; null for a conversation outside the filter. */
  position: { index: number; total: number } | null;
  /** Another conversation is loading. */
  isBehind: boolean;
  /** The terms of the search. */
  search: string;
  onOpenRun: (runId: string) => void;
  onPrevious: () => void;
  onNext: () => void;
  /** Escape: back to the list. */
  onLeave: () => void;
  actions: ReactNode;
}

function Title({ conversation, run, position, onPrevious, onNext }: ConversationDetailProps) {
  return (
    <div className="header header--line audit__title">
      <h2 className="truncate">{conversation.name}</h2>
      {run.metadata?.['sample'] === true && <Badge>Sample</Badge>}
      <span className="grow" />
      <span className="caption tertiary nowrap numbers">
        {position ? `${formatWhole(position.index + 1)} of ${formatWhole(position.total)}` : 'Not in the filtered list'}
      </span>
      <CopyLink
        address={auditAddress({
          filter: {},
          sort: 'newest',
          conversationId: conversation.id,
          runId: run.conversationRunId,
        })}
        size="small"
      />
      <IconButton icon={ChevronUp} label="Previous" keys="K" size="small" variant="default" onClick={onPrevious} />
      <IconButton icon={ChevronDown} label="Next" keys="J" size="small" variant="default" onClick={onNext} />
    </div>
  );
}

/** Buttons for the part of the run that is shown, and for the format of its answer. */
function PartChoice({ part, run }: { part: RunPart; run: ConversationRun }) {
  const { answerView } = useAuditViewState();
  return (
    <div className="header">
      <Segmented
        label="Part of the run"
        value={part}
        onValueChange={(next) => useAuditViewState.setState({ part: next })}
        options={partOptions(run)}
      />
      <span className="grow" />
      {part === 'conversation' && (
        <span className="wide-only">
          <Segmented
            label="Answer view"
            value={answerView}
            onValueChange={(next) => useAuditViewState.setState({ answerView: next })}
            options={answerViews}
          />
        </span>
      )}
    </div>
  );
}

/** Enter moves to the next conversation unless a control uses it. */
function isForControl(target: EventTarget): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('button:not([role="radio"]), a, input, select, textarea, summary') !== null
  );
}

/** A conversation with its messages, answers and feedback. */
export function ConversationDetail(props: ConversationDetailProps) {
  const { conversation, facets, run, search, onNext, detailRef } = props;
  const { part: requestedPart, answerView } = useAuditViewState();
  const part = requestedPart === 'passages' && run.citations.length === 0 ? 'conversation' : requestedPart;
  const reading = useRef<HTMLDivElement>(null);
  useFindHighlights(reading, search, `${run.conversationRunId} ${part} ${answerView}`);
  const index = conversation.runs.indexOf(run);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' && !isForControl(event.target)) {
      event.preventDefault();
      onNext();
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      props.onLeave();
    }
  };
  return (
    <section ref={detailRef} className="panel line-left audit__detail" aria-label="Conversation" onKeyDown={onKeyDown}>
      <Title {...props} />
      <ConversationDetails conversation={conversation} facets={facets} />
      <RunList
        runs={conversation.runs}
        openId={run.conversationRunId}
        matchedIds={props.matchedIds}
        onOpen={props.onOpenRun}
      />
      <PartChoice part={part} run={run} />
      <div
        key={run.conversationRunId}
        ref={reading}
        id="audit-read"
        className="scroll audit__read"
        tabIndex={0}
        role="region"
        aria-label="Text of the run"
      >
        <Part part={part} run={run} conversationId={conversation.id} />
      </div>
      <FeedbackPanel
        conversationId={conversation.id}
        run={run}
        runName={`run ${index + 1}`}
        isBehind={props.isBehind}
        onNext={onNext}
      />
      {props.actions}
    </section>
  );
}
