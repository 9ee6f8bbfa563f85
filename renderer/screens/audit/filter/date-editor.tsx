import { useState } from 'react';
import type { AuditFilter } from '../../../../shared/contract/audit.ts';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { dateSpans, withSpan } from '../../../shell/date-spans.ts';
import type { EditorProps } from './value-editors.tsx';

/** A moment as the browser's field writes it: local time without a zone. */
export function localText(moment: string | null | undefined): string {
  if (!moment) return '';
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Why two fields are no span of time; null where they are. */
export function dateProblem(from: string, to: string): { from?: string; to?: string } | null {
  const year = (text: string) => Number(text.split('-')[0]);
  const isOdd = (text: string) => text !== '' && (Number.isNaN(Date.parse(text)) || year(text) > 9999);
  if (isOdd(from)) return { from: 'Enter a valid date and time' };
  if (isOdd(to)) return { to: 'Enter a valid date and time' };
  if (from !== '' && to !== '' && from > to) return { from: 'Must not be after the end' };
  return null;
}

function withDates(filter: AuditFilter, startDate: string | null, endDate: string | null): AuditFilter {
  const { startDate: _start, endDate: _end, ...rest } = filter;
  return { ...rest, ...(startDate && { startDate }), ...(endDate && { endDate }) };
}

/** The whole minute is meant: its last millisecond is still inside. */
function endOfMinute(text: string): string {
  return new Date(Date.parse(text) + 59_999).toISOString();
}

/** Spans of time: the usual ones by one press, any other one by its ends. */
export function DateEditor({ filter, onDone }: EditorProps) {
  const [from, setFrom] = useState(localText(filter.startDate));
  const [to, setTo] = useState(localText(filter.endDate));
  const [isAsked, setAsked] = useState(false);
  const problem = isAsked ? dateProblem(from, to) : null;
  const submit = () => {
    setAsked(true);
    if (dateProblem(from, to)) return;
    onDone(withDates(filter, from === '' ? null : new Date(from).toISOString(), to === '' ? null : endOfMinute(to)));
  };
  return (
    <form
      className="filter-form"
      aria-label="Date"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="filter-form__presets" role="group" aria-label="Quick ranges">
        {dateSpans.map(({ id, name }, index) => (
          <Button
            key={id}
            size="small"
            autoFocus={index === 0}
            onClick={() => onDone(withSpan(filter, id, new Date()), id)}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className="filter-form__pair">
        <TextField label="From" type="datetime-local" value={from} onValueChange={setFrom} error={problem?.from} />
        <TextField label="Until" type="datetime-local" value={to} onValueChange={setTo} error={problem?.to} />
      </div>
      <Button type="submit" variant="primary" size="small">
        Apply
      </Button>
    </form>
  );
}
