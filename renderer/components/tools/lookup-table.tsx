import { ChevronLeft, ChevronRight, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../button.tsx';
import { Checkbox } from '../choices.tsx';
import { formatWhole } from '../format.ts';
import { TextField } from '../text-field.tsx';
import type { MockEntry, ToolMock } from '../../../shared/contract/tools.ts';
import { isObject } from '../../../shared/json-schema.ts';
import { describeMistake, parseJson } from '../../drafts/json-text.ts';

export const emptyEntry: MockEntry = { arguments: {}, content: '', isError: false };

/** The result of calls. */
export function ContentField({
  label,
  text,
  onTextChange,
}: {
  label: string;
  text: string;
  onTextChange: (text: string) => void;
}) {
  return (
    <div className="field field--area mono--small">
      <textarea
        aria-label={label}
        rows={text.length > 60 || text.includes('\n') ? 3 : 1}
        value={text}
        spellCheck={false}
        placeholder='{"state": "in transit"}'
        onChange={(event) => onTextChange(event.target.value)}
      />
    </div>
  );
}

const isSameJson = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The arguments of an entry as JSON. A text that isn't an object stays in the field until it is one. */
function ArgumentsField({
  entry,
  number,
  onChange,
}: {
  entry: MockEntry;
  number: number;
  onChange: (entry: MockEntry) => void;
}) {
  const [typed, setTyped] = useState<{ text: string; value: MockEntry['arguments'] } | null>(null);
  // Another entry has this field after a row above is removed.
  const text = typed && isSameJson(typed.value, entry.arguments) ? typed.text : JSON.stringify(entry.arguments);
  const parsed = parseJson(text.trim() === '' ? '{}' : text);
  const value = 'value' in parsed ? parsed.value : null;
  const error =
    'mistake' in parsed ? describeMistake(parsed.mistake) : isObject(value) ? null : 'Must be a JSON object';
  const take = (next: string): void => {
    const read = parseJson(next.trim() === '' ? '{}' : next);
    const taken = 'value' in read && isObject(read.value) ? read.value : null;
    setTyped({ text: next, value: taken ?? entry.arguments });
    if (taken) onChange({ ...entry, arguments: taken });
  };
  return (
    <TextField
      label={`Arguments of row ${number}`}
      isLabelHidden
      isMono
      size="small"
      value={text}
      error={error}
      placeholder='{"order_id": "NW-48213"}'
      onValueChange={take}
    />
  );
}

function LookupRow({
  entry,
  number,
  onChange,
}: {
  entry: MockEntry;
  number: number;
  /** Null removes the row. */
  onChange: (entry: MockEntry | null) => void;
}) {
  return (
    <div className="mock-table__row" role="row">
      <div role="cell">
        <ArgumentsField entry={entry} number={number} onChange={onChange} />
      </div>
      <div role="cell">
        <ContentField
          label={`Result of row ${number}`}
          text={entry.content}
          onTextChange={(content) => onChange({ ...entry, content })}
        />
      </div>
      <div role="cell">
        <Checkbox
          label={`Row ${number} is an error`}
          isLabelHidden
          isChecked={entry.isError}
          onCheckedChange={(isError) => onChange({ ...entry, isError })}
        />
      </div>
      <div role="cell">
        <IconButton icon={Trash2} label={`Remove row ${number}`} size="small" onClick={() => onChange(null)} />
      </div>
    </div>
  );
}

/** More fields would hold the window while they are drawn. */
const rowsOfPage = 50;

export const lastPageOf = (rows: number) => Math.max(0, Math.ceil(rows / rowsOfPage) - 1);

/** The rows that are shown, and the buttons that show others. */
function LookupPages({ rows, page, onPage }: { rows: number; page: number; onPage: (page: number) => void }) {
  const first = page * rowsOfPage;
  return (
    <div className="row mock-table__pages" role="group" aria-label="Pages of rows">
      <span className="small tertiary numbers grow" role="status">
        Rows {first + 1} to {Math.min(rows, first + rowsOfPage)} of {formatWhole(rows)}
      </span>
      <IconButton
        icon={ChevronLeft}
        label="Previous rows"
        size="small"
        aria-disabled={page === 0 || undefined}
        onClick={() => onPage(Math.max(0, page - 1))}
      />
      <IconButton
        icon={ChevronRight}
        label="Next rows"
        size="small"
        aria-disabled={page === lastPageOf(rows) || undefined}
        onClick={() => onPage(Math.min(lastPageOf(rows), page + 1))}
      />
    </div>
  );
}

interface LookupTableProps {
  mock: Extract<ToolMock, { kind: 'lookUp' }>;
  page: number;
  onPage: (page: number) => void;
  onChange: (mock: ToolMock) => void;
}

/** Results by arguments, of which a page is shown. */
export function LookupTable({ mock, page, onPage, onChange }: LookupTableProps) {
  const { entries, otherwise } = mock;
  const first = page * rowsOfPage;
  const set = (index: number, entry: MockEntry | null): void =>
    onChange({ ...mock, entries: entries.flatMap((one, at) => (at === index ? (entry ?? []) : one)) });
  return (
    <>
      {entries.length > rowsOfPage && <LookupPages rows={entries.length} page={page} onPage={onPage} />}
      <div className="mock-table" role="table" aria-label="Results by arguments">
        <div className="mock-table__row mock-table__row--head" role="row">
          <span role="columnheader">If the arguments contain</span>
          <span role="columnheader">Return</span>
          <span role="columnheader">Error</span>
          <span role="columnheader" className="visually-hidden">
            Remove
          </span>
        </div>
        {entries.slice(first, first + rowsOfPage).map((entry, offset) => {
          const index = first + offset;
          // oxlint-disable-next-line react/no-array-index-key -- Rows have no identity but their position.
          return <LookupRow key={index} entry={entry} number={index + 1} onChange={(next) => set(index, next)} />;
        })}
        <div className="mock-table__row" role="row">
          <div role="cell" className="mock-table__otherwise">
            <Checkbox
              label="Anything else"
              isChecked={otherwise !== null}
              onCheckedChange={(has) => onChange({ ...mock, otherwise: has ? '' : null })}
            />
          </div>
          <div role="cell">
            {otherwise === null ? (
              <span className="small tertiary">Entered by hand</span>
            ) : (
              <ContentField
                label="Result of anything else"
                text={otherwise}
                onTextChange={(content) => onChange({ ...mock, otherwise: content })}
              />
            )}
          </div>
        </div>
      </div>
    </>
  );
}
