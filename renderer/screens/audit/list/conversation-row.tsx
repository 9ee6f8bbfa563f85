import { Check } from 'lucide-react';
import { memo } from 'react';
import type { AuditRow } from '../../../../shared/contract/audit.ts';
import { classNames } from '../../../components/class-names.ts';
import { formatCost, formatPlural, formatTime } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Score } from '../../../components/scores/score-scale.tsx';

/** Height of every row, in pixels; the style sheet has the same. */
export const rowHeight = 44;

/** What a list says of a run that did not end by itself. */
export const statusWords = {
  Running: { word: 'running', tone: 'accent' },
  Failed: { word: 'failed', tone: 'negative' },
  Cancelled: { word: 'stopped', tone: 'tertiary' },
} as const;

function Judgement({ run }: Pick<AuditRow, 'run'>) {
  const state = run.status === 'Completed' ? null : statusWords[run.status];
  const tag = run.feedback?.scoreTags?.split(',')[0]?.trim();
  const score = run.feedback?.score ?? null;
  return (
    <span className="conversation__score">
      {state && <span className={state.tone}>{state.word}</span>}
      {tag && <span className="tertiary truncate wide-only">{tag}</span>}
      {score !== null && <Score score={score} />}
    </span>
  );
}

export interface ConversationRowProps {
  row: AuditRow;
  caller: string;
  /** Shown as its time: what the list goes by. */
  time: string;
  isOpen: boolean;
  isSelected: boolean;
}

/** One conversation in two lines: what it is about and when, where it comes from and what was thought of it. */
export const ConversationRow = memo(function ConversationRow({
  row,
  caller,
  time,
  isOpen,
  isSelected,
}: ConversationRowProps) {
  const { run } = row;
  return (
    <div className={classNames('conversation', isOpen && 'is-selected', isSelected && 'is-picked')}>
      <span className="conversation__mark">{isSelected && <Icon icon={Check} size="tiny" />}</span>
      <span className="conversation__name truncate">
        {row.name}
        {/* Conversations that the same stored prompt opened all have its name. */}
        {run.title !== row.name && run.title !== '' && <span className="conversation__words">{run.title}</span>}
      </span>
      <span className="conversation__time">{formatTime(time)}</span>
      <span className="conversation__meta">
        <span className="truncate">
          <span title={row.callerId}>{caller}</span>
          <i>{run.model}</i>
          <i>{formatPlural(row.runs, 'run')}</i>
          {row.isSample && <i>sample</i>}
        </span>
        {run.cost !== null && <i className="conversation__cost">{formatCost(run.cost)}</i>}
      </span>
      <Judgement run={run} />
    </div>
  );
});

/** In the place of a row that is on its way; as high as one. */
export function RowPlaceholder() {
  return (
    <div className="conversation conversation--placeholder">
      <span className="placeholder__bar" />
      <span className="placeholder__bar" />
    </div>
  );
}
