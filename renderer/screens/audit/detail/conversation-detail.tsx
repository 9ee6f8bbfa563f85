import { ChevronDown, ChevronUp, CircleDot } from 'lucide-react';
import { memo, useRef, type KeyboardEvent, type ReactNode } from 'react';
import type { AuditFacets } from '../../../../shared/contract/audit.ts';
import type { ConversationDetail as Conversation, ConversationRun } from '../../../../shared/contract/conversations.ts';
import { Segmented } from '../../../components/choices.tsx';
import { classNames } from '../../../components/class-names.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { formatDuration, formatPlural, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { Badge } from '../../../components/marks.tsx';
import { useAuditViewState, type RunPart } from '../../../stores/audit-view.ts';
import { FeedbackPanel } from '../feedback/feedback-panel.tsx';
import { callerName, formatMoment } from '../filter/filter-fields.ts';
import { statusWords } from '../list/conversation-row.tsx';
import { HeadersPart, JsonPart, TimingPart } from './run-facts.tsx';
import { ConversationPart, Passages, PromptPart } from './run-parts.tsx';
import { useFindMarks } from './use-find-marks.ts';
import './detail.css';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

function shortId(id: string): string {
  return `${id.slice(0, 4)}…${id.slice(-4)}`;
}

function Facts({ conversation, facets }: { conversation: Conversation; facets: AuditFacets | undefined }) {
  return (
    <div className="audit__facts">
      <dl className="inline-facts">
        <div>
          <dt>Caller</dt>
          <dd className="truncate" title={conversation.callerId}>
            {callerName(conversation.callerId, facets)}
          </dd>
        </div>
        <div>
          <dt>Workspace</dt>
          <dd className={conversation.workspaceId ? 'mono--small' : 'tertiary'}>
            {conversation.workspaceId ? shortId(conversation.workspaceId) : 'none'}
          </dd>
        </div>
        <div>
          <dt>Updated</dt>
          <dd>{formatMoment(conversation.updatedAt)}</dd>
        </div>
        <div className="wide-only">
          <dt>Id</dt>
          <dd className="row">
            <span className="mono--small">{shortId(conversation.id)}</span>
            <CopyButton text={conversation.id} label="Copy the conversation id" isIconOnly size="small" />
          </dd>
        </div>
      </dl>
    </div>
  );
}

function runMeasures({ timing, usage }: ConversationRun): string {
  const facts = [
    timing.totalMs === null ? null : formatDuration(timing.totalMs),
    usage ? formatPlural(usage.total_tokens, 'token') : null,
  ];
  return facts.filter((fact) => fact !== null).join(', ');
}

/** Seconds tell the runs of one day apart; a conversation of several days says which. */
function startOf(run: ConversationRun, runs: readonly ConversationRun[]): string {
  const days = new Set(runs.map(({ createdAt }) => new Date(createdAt).toDateString()));
  return (days.size === 1 ? clock : dayAndClock).format(new Date(run.createdAt));
}

interface RunListProps {
  runs: readonly ConversationRun[];
  openId: string;
  matchedIds: readonly string[];
  onOpen: (runId: string) => void;
}

function RunList({ runs, openId, matchedIds, onOpen }: RunListProps) {
  return (
    <div className="audit__runs scroll" role="group" aria-label="Runs of this conversation" tabIndex={-1}>
      {runs.map((run, index) => {
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

/** Drawn again only when another run or part is opened: an answer may be long. */
const Part = memo(function Part({ part, run, conversationId }: PartProps) {
  if (part === 'prompt') return <PromptPart run={run} />;
  if (part === 'passages') return <Passages run={run} />;
  if (part === 'headers') return <HeadersPart run={run} conversationId={conversationId} />;
  if (part === 'timing') return <TimingPart run={run} />;
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
    { value: 'json', label: 'JSON' },
  ];
}

const answerViews = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'plain', label: 'Plain' },
] as const;

export interface ConversationDetailProps {
  conversation: Conversation;
  facets: AuditFacets | undefined;
  run: ConversationRun;
  matchedIds: readonly string[];
  /** `2 of 214`; null for a conversation that the filter leaves out. */
  place: { index: number; total: number } | null;
  /** Another conversation is on its way. */
  isBehind: boolean;
  /** The words that were searched for. */
  search: string;
  onOpenRun: (runId: string) => void;
  onPrevious: () => void;
  onNext: () => void;
  /** Escape: back to the list. */
  onLeave: () => void;
  actions: ReactNode;
}

/** Enter goes on to the next conversation wherever it does nothing else. */
function isForControl(target: EventTarget): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('button:not([role="radio"]), a, input, select, textarea, summary') !== null
  );
}

/** A conversation with everything that was sent and answered, and what to think of it. */
export function ConversationDetail(props: ConversationDetailProps) {
  const { conversation, facets, run, place, search, onNext, onPrevious } = props;
  const { part: wanted, answerView } = useAuditViewState();
  const part = wanted === 'passages' && run.citations.length === 0 ? 'conversation' : wanted;
  const reading = useRef<HTMLDivElement>(null);
  useFindMarks(reading, search, `${run.conversationRunId} ${part} ${answerView}`);
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
    <section className="panel line-left audit__detail" aria-label="Conversation" onKeyDown={onKeyDown}>
      <div className="header header--line audit__title">
        <h2 className="truncate">{conversation.name}</h2>
        {run.metadata?.['sample'] === true && <Badge>Sample</Badge>}
        <span className="grow" />
        <span className="caption tertiary nowrap numbers">
          {place ? `${formatWhole(place.index + 1)} of ${formatWhole(place.total)}` : 'outside the filter'}
        </span>
        <IconButton icon={ChevronUp} label="Previous" keys="K" size="small" variant="default" onClick={onPrevious} />
        <IconButton icon={ChevronDown} label="Next" keys="J" size="small" variant="default" onClick={onNext} />
      </div>
      <Facts conversation={conversation} facets={facets} />
      <RunList
        runs={conversation.runs}
        openId={run.conversationRunId}
        matchedIds={props.matchedIds}
        onOpen={props.onOpenRun}
      />
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
