import { CalendarSearch, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { auditSorts, type AuditSort } from '../../../../shared/contract/audit.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { formatDuration, formatWhole } from '../../../components/format.ts';
import { Popover } from '../../../components/popover.tsx';
import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { clearSelection, hasSelection, selectAll, useAuditSelection } from '../../../stores/audit.ts';

const sortNames: Record<AuditSort, string> = {
  newest: 'Newest',
  oldest: 'Oldest',
  slowest: 'Slowest',
  dearest: 'Most expensive',
  'lowest-score': 'Lowest score',
};

/** Scrolls to a date without filtering the list. */
function GoToDate({ onGo, isGoing }: Pick<ListHeaderProps, 'onGo' | 'isGoing'>) {
  const [isOpen, setOpen] = useState(false);
  const [date, setDate] = useState('');
  const [isSubmitted, setSubmitted] = useState(false);
  const isGood = !Number.isNaN(Date.parse(date));
  const go = () => {
    setSubmitted(true);
    if (!isGood) return;
    setOpen(false);
    // The end of the day: a list with the newest first then starts at the last run of that day.
    onGo(new Date(Date.parse(`${date}T00:00`) + 86_399_999).toISOString());
  };
  return (
    <Popover
      label="Go to a date"
      isOpen={isOpen}
      onOpenChange={setOpen}
      align="end"
      trigger={<IconButton icon={CalendarSearch} label="Go to a date" size="small" isBusy={isGoing} />}
    >
      <form
        className="filter-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          go();
        }}
      >
        <TextField
          label="Go to"
          type="date"
          autoFocus
          value={date}
          onValueChange={setDate}
          error={isSubmitted && !isGood ? 'Enter a valid date' : null}
        />
        <Button type="submit" variant="primary" size="small">
          Go
        </Button>
      </form>
    </Popover>
  );
}

interface CountProps {
  total: number;
  isTotalExact: boolean;
}

function conversations({ total, isTotalExact }: CountProps): string {
  return `${isTotalExact ? '' : 'about '}${formatWhole(total)} ${total === 1 ? 'conversation' : 'conversations'}`;
}

export interface ListHeaderProps extends CountProps {
  /** Of all conversations; null until it is known. */
  everything: number | null;
  milliseconds: number;
  sort: AuditSort;
  onSort: (sort: AuditSort) => void;
  onGo: (at: string) => void;
  isGoing: boolean;
  onRefresh: () => void;
  isRefreshing: boolean;
}

/** The count and the sort order; with a selection, buttons to extend or clear it. */
export function ListHeader(props: ListHeaderProps) {
  const { total, isTotalExact, everything, milliseconds, sort, onSort, onRefresh, isRefreshing } = props;
  const selection = useAuditSelection();
  const { rows, isAll, readings } = selection;
  if (hasSelection(selection)) {
    return (
      <div className="header header--line line-top audit__picked">
        <h2>
          <span role="status">
            {isAll ? `All ${conversations(props)} selected` : `${formatWhole(rows.size)} selected`}
            {readings > 0 && ', loading more'}
          </span>
        </h2>
        {!isAll && (
          <Button size="small" variant="quiet" onClick={selectAll}>
            Select all {isTotalExact ? formatWhole(total) : 'matching'}
          </Button>
        )}
        <span className="grow" />
        <Button size="small" variant="quiet" keys="Escape" onClick={clearSelection}>
          Clear selection
        </Button>
      </div>
    );
  }
  return (
    <div className="header header--line line-top">
      <h2 className="nowrap numbers">
        <span role="status">{conversations(props)}</span>
      </h2>
      <span className="caption tertiary truncate">
        {everything !== null && everything !== total && `of ${formatWhole(everything)}, `}
        in {formatDuration(milliseconds)}
      </span>
      <span className="grow" />
      {(sort === 'newest' || sort === 'oldest') && <GoToDate {...props} />}
      <IconButton icon={RotateCw} label="Refresh" size="small" isBusy={isRefreshing} onClick={onRefresh} />
      <Select
        label="Sort by"
        size="small"
        value={sort}
        onValueChange={onSort}
        options={auditSorts.map((value) => ({ value, label: sortNames[value] }))}
      />
    </div>
  );
}
