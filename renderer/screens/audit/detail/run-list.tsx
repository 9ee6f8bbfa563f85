import { CircleDot } from 'lucide-react';
import type { ConversationRun } from '../../../../shared/contract/conversations.ts';
import { classNames } from '../../../components/class-names.ts';
import { formatPlural, formatRunDuration } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { statusWords } from '../list/conversation-row.tsx';

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

function runMeasures({ timing, usage }: ConversationRun): string {
  const facts = [
    timing.totalMs === null ? null : formatRunDuration(timing.totalMs),
    usage ? formatPlural(usage.total_tokens, 'token') : null,
  ];
  return facts.filter((fact) => fact !== null).join(', ');
}

/** Seconds tell the runs of one day apart; a conversation of several days says which. */
function startOf(run: ConversationRun, runs: readonly ConversationRun[]): string {
  const days = new Set(runs.map(({ createdAt }) => new Date(createdAt).toDateString()));
  return (days.size === 1 ? clock : dayAndClock).format(new Date(run.createdAt));
}

export interface RunListProps {
  runs: readonly ConversationRun[];
  openId: string;
  /** Those that meet the filter. */
  matchedIds: readonly string[];
  onOpen: (runId: string) => void;
}

/** The runs of a conversation, to open one of them. */
export function RunList({ runs, openId, matchedIds, onOpen }: RunListProps) {
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
