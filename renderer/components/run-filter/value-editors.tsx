import { type ReactNode, useState } from 'react';
import type { AuditFacets, AuditFilter } from '../../../shared/contract/audit.ts';
import type { AuditSpan } from '../../../shared/contract/audit-views.ts';
import { Button } from '../button.tsx';
import { Checkbox } from '../choices.tsx';
import { readNumber } from '../format.ts';
import { TextField } from '../text-field.tsx';
import type { FilterField } from './filter-fields.ts';
import { dateSpans, withSpan } from '../../shell/audit-address.ts';

export interface EditorProps {
  filter: AuditFilter;
  facets: AuditFacets | undefined;
  /** Applies the changed filter and closes the menu; with a span if its dates are relative. */
  onDone: (filter: AuditFilter, span?: AuditSpan) => void;
}

/** A few fields with the button that applies them; Enter in any of them does the same. */
function EditorForm({ label, onSubmit, children }: { label: string; onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className="filter-form"
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <Button type="submit" variant="primary" size="small">
        Apply
      </Button>
    </form>
  );
}

type RangeField = Extract<FilterField, { kind: 'range' }>;

/** The error of a range, at the wrong field; null if it is valid. */
function rangeProblem(field: RangeField, low: string, high: string): { low?: string; high?: string } | null {
  const [min, max] = [readNumber(low), readNumber(high)];
  const why = (value: number | null | undefined): string | undefined => {
    if (value === null) return 'Must be a number';
    if (value === undefined) return undefined;
    if (field.isWhole && !Number.isInteger(value)) return 'Must be a whole number';
    if (field.id === 'score') return Math.abs(value) > 10 ? 'Must be from −10 to 10' : undefined;
    return value < 0 ? 'Must be 0 or more' : undefined;
  };
  const [lowIssue, highIssue] = [why(min), why(max)];
  if (lowIssue || highIssue) return { ...(lowIssue && { low: lowIssue }), ...(highIssue && { high: highIssue }) };
  if (typeof min === 'number' && typeof max === 'number' && min > max)
    return { low: 'Must not be above the upper limit' };
  return null;
}

export function RangeEditor({ field, filter, onDone }: EditorProps & { field: RangeField }) {
  const before = filter[field.id];
  const shown = (value: number | null | undefined) => (value == null ? '' : String(value / field.scale));
  const [low, setLow] = useState(shown(before?.min));
  const [high, setHigh] = useState(shown(before?.max));
  const [isSubmitted, setSubmitted] = useState(false);
  const problem = isSubmitted ? rangeProblem(field, low, high) : null;
  const submit = () => {
    setSubmitted(true);
    if (rangeProblem(field, low, high)) return;
    const [min, max] = [readNumber(low), readNumber(high)];
    const { [field.id]: _before, ...rest } = filter;
    const range = {
      ...(typeof min === 'number' && { min: min * field.scale }),
      ...(typeof max === 'number' && { max: max * field.scale }),
    };
    onDone(Object.keys(range).length === 0 ? rest : { ...rest, [field.id]: range });
  };
  const unit = field.unit && <span className="caption tertiary">{field.unit}</span>;
  return (
    <EditorForm label={field.name} onSubmit={submit}>
      <div className="filter-form__pair">
        <TextField
          label="From"
          autoFocus
          inputMode="decimal"
          onFocus={(event) => event.currentTarget.select()}
          value={low}
          onValueChange={setLow}
          error={problem?.low}
          end={unit}
        />
        <TextField
          label="To"
          inputMode="decimal"
          onFocus={(event) => event.currentTarget.select()}
          value={high}
          onValueChange={setHigh}
          error={problem?.high}
          end={unit}
        />
      </div>
    </EditorForm>
  );
}

const uuidForm = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function IdEditor({ field, filter, onDone }: EditorProps & { field: Extract<FilterField, { kind: 'id' }> }) {
  const [id, setId] = useState(filter[field.id] ?? '');
  const [isSubmitted, setSubmitted] = useState(false);
  const trimmed = id.trim();
  const isGood = trimmed === '' || uuidForm.test(trimmed);
  const submit = () => {
    setSubmitted(true);
    const { [field.id]: _before, ...rest } = filter;
    if (isGood) onDone(trimmed === '' ? rest : { ...rest, [field.id]: trimmed.toLowerCase() });
  };
  return (
    <EditorForm label={field.name} onSubmit={submit}>
      <TextField
        label={field.name}
        autoFocus
        isMono
        placeholder="00000000-0000-0000-0000-000000000000"
        value={id}
        onValueChange={setId}
        error={isSubmitted && !isGood ? 'Must be a UUID' : null}
      />
    </EditorForm>
  );
}

export function FeedbackTextEditor({ filter, onDone }: EditorProps) {
  const [text, setText] = useState(filter.feedback?.scoreText ?? '');
  const submit = () => {
    const { feedback: _before, ...rest } = filter;
    onDone(text.trim() === '' ? rest : { ...rest, feedback: { scoreText: text } });
  };
  return (
    <EditorForm label="Comment" onSubmit={submit}>
      <TextField label="Comment contains" autoFocus value={text} onValueChange={setText} />
    </EditorForm>
  );
}

export function HasFeedbackEditor({ filter, onDone }: EditorProps) {
  const choose = (hasFeedback: boolean | null) => {
    const { hasFeedback: _before, ...rest } = filter;
    onDone(hasFeedback === null ? rest : { ...rest, hasFeedback });
  };
  return (
    <div className="filter-form" role="group" aria-label="Has feedback">
      <Button autoFocus onClick={() => choose(true)}>
        With feedback
      </Button>
      <Button onClick={() => choose(false)}>Without feedback</Button>
      <Button variant="quiet" onClick={() => choose(null)}>
        Any
      </Button>
    </div>
  );
}

export function HeaderEditor({ filter, facets, onDone }: EditorProps) {
  const known = facets?.appHeaders ?? [];
  const [name, setName] = useState(Object.keys(filter.appHeaders ?? {})[0] ?? '');
  const [value, setValue] = useState(filter.appHeaders?.[name] ?? '');
  const [isAbsent, setAbsent] = useState(filter.appHeaders?.[name] === null);
  const [isSubmitted, setSubmitted] = useState(false);
  const bare = name
    .trim()
    .toLowerCase()
    .replace(/^x-app-/, '');
  const issue = /^[\w!#$%&'*+.^`|~-]+$/.test(bare) ? null : 'Enter a header name, such as team';
  const values = known.find((header) => header.name === bare)?.values ?? [];
  const submit = () => {
    setSubmitted(true);
    if (issue === null) onDone({ ...filter, appHeaders: { ...filter.appHeaders, [bare]: isAbsent ? null : value } });
  };
  return (
    <EditorForm label="Header" onSubmit={submit}>
      <TextField
        label="Header (without x-app-)"
        autoFocus
        isMono
        list="audit-header-names"
        value={name}
        onValueChange={setName}
        error={isSubmitted ? issue : null}
      />
      <datalist id="audit-header-names">
        {known.map((header) => (
          <option key={header.name} value={header.name} />
        ))}
      </datalist>
      <TextField
        label="Value"
        isMono
        list="audit-header-values"
        disabled={isAbsent}
        value={isAbsent ? '' : value}
        onValueChange={setValue}
      />
      <datalist id="audit-header-values">
        {values.map((one) => (
          <option key={one.value} value={one.value} />
        ))}
      </datalist>
      <Checkbox label="Runs without this header" isChecked={isAbsent} onCheckedChange={setAbsent} />
    </EditorForm>
  );
}

/** A time in the format of the browser's field: local time without a zone. */
function localText(moment: string | null | undefined): string {
  if (!moment) return '';
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The error of a start and an end; null if they are valid. */
function dateProblem(from: string, to: string): { from?: string; to?: string } | null {
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

/** The whole minute is included, up to its last millisecond. */
function endOfMinute(text: string): string {
  return new Date(Date.parse(text) + 59_999).toISOString();
}

/** Time spans: the common ones with one click, others by start and end. */
export function DateEditor({ filter, onDone }: EditorProps) {
  const [from, setFrom] = useState(localText(filter.startDate));
  const [to, setTo] = useState(localText(filter.endDate));
  const [isSubmitted, setSubmitted] = useState(false);
  const problem = isSubmitted ? dateProblem(from, to) : null;
  const submit = () => {
    setSubmitted(true);
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
