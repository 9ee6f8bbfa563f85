import { Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button, IconButton } from '../button.tsx';
import { Checkbox, Segmented } from '../choices.tsx';
import { TextField } from '../text-field.tsx';
import { uuid } from '../../../shared/contract/common.ts';
import type { MockEntry, ToolMock } from '../../../shared/contract/tools.ts';
import { isObject } from '../../../shared/json-schema.ts';
import { mockResult } from '../../../shared/tool-mock.ts';
import { describeMistake, parseJson } from '../../drafts/json-text.ts';
import { useRun } from '../../queries/runs.ts';

type MockKind = ToolMock['kind'] | 'hand';

const kinds: readonly { value: MockKind; label: string }[] = [
  { value: 'hand', label: 'By hand' },
  { value: 'fixed', label: 'Fixed' },
  { value: 'lookUp', label: 'Lookup' },
  { value: 'recorded', label: 'Recording' },
];

const emptyEntry: MockEntry = { arguments: {}, content: '', isError: false };

function newMock(kind: MockKind, runId: string | null): ToolMock | null {
  if (kind === 'hand') return null;
  if (kind === 'fixed') return { kind, content: '', isError: false };
  if (kind === 'recorded') return { kind, runId: runId ?? '' };
  return { kind, entries: [emptyEntry], otherwise: null };
}

function ContentField({
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
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? JSON.stringify(entry.arguments);
  const parsed = parseJson(text.trim() === '' ? '{}' : text);
  const value = 'value' in parsed ? parsed.value : null;
  const error =
    'mistake' in parsed ? describeMistake(parsed.mistake) : isObject(value) ? null : 'Must be a JSON object';
  const take = (next: string): void => {
    setTyped(next);
    const read = parseJson(next.trim() === '' ? '{}' : next);
    if ('value' in read && isObject(read.value)) onChange({ ...entry, arguments: read.value });
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

function LookupTable({
  mock,
  onChange,
}: {
  mock: Extract<ToolMock, { kind: 'lookUp' }>;
  onChange: (mock: ToolMock) => void;
}) {
  const { entries, otherwise } = mock;
  const set = (index: number, entry: MockEntry | null): void =>
    onChange({ ...mock, entries: entries.flatMap((one, at) => (at === index ? (entry ?? []) : one)) });
  return (
    <div className="mock-table" role="table" aria-label="Results by arguments">
      <div className="mock-table__row mock-table__row--head" role="row">
        <span role="columnheader">If the arguments contain</span>
        <span role="columnheader">Return</span>
        <span role="columnheader">Error</span>
        <span role="columnheader" className="visually-hidden">
          Remove
        </span>
      </div>
      {entries.map((entry, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- Rows have no identity but their position.
        <LookupRow key={index} entry={entry} number={index + 1} onChange={(next) => set(index, next)} />
      ))}
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
  );
}

function RecordedRun({
  mock,
  shownRunId,
  onChange,
}: {
  mock: Extract<ToolMock, { kind: 'recorded' }>;
  shownRunId: string | null;
  onChange: (mock: ToolMock) => void;
}) {
  const isId = uuid.safeParse(mock.runId).success;
  return (
    <div className="row mock__recorded">
      <TextField
        label="Run ID"
        isLabelHidden
        isMono
        placeholder="Run ID"
        value={mock.runId}
        error={mock.runId !== '' && !isId ? 'Must be a UUID' : null}
        hint="Returns the result that the tool had in this run"
        onValueChange={(runId) => onChange({ ...mock, runId: runId.trim() })}
      />
      {shownRunId !== null && shownRunId !== mock.runId && (
        <Button size="small" onClick={() => onChange({ ...mock, runId: shownRunId })}>
          Use the shown run
        </Button>
      )}
    </div>
  );
}

/** What the mock returns for arguments that a person enters. */
function TryCall({ name, mock }: { name: string; mock: ToolMock }) {
  const id = useId();
  const [text, setText] = useState('{}');
  const runId = mock.kind === 'recorded' && uuid.safeParse(mock.runId).success ? mock.runId : null;
  const { data: run } = useRun(runId);
  const parsed = parseJson(text);
  const result =
    'mistake' in parsed ? null : mockResult(mock, { name, arguments: text }, run?.input.messages ?? undefined);
  let outcome: ReactNode = 'Entered by hand';
  if ('mistake' in parsed) outcome = <span className="negative">{describeMistake(parsed.mistake)}</span>;
  else if (result)
    outcome = (
      <>
        Returns{result.isError && ' the error'}{' '}
        <span className="mono--small">{result.content.slice(0, 300) || '(empty)'}</span>
      </>
    );
  return (
    <div className="mock__try">
      <label className="small secondary" htmlFor={id}>
        Try a call
      </label>
      <div className="field field--small mono--small">
        <input
          id={id}
          value={text}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <span className="small tertiary truncate" role="status">
        {outcome}
      </span>
    </div>
  );
}

export interface MockEditorProps {
  /** Of the tool. */
  name: string;
  mock: ToolMock | null;
  shownRunId: string | null;
  onChange: (mock: ToolMock | null) => void;
}

/** Where the result of a call comes from. */
export function MockEditor({ name, mock, shownRunId, onChange }: MockEditorProps) {
  return (
    <section className="line-top mock" aria-label="Result source">
      <div className="header">
        <h2>Result source</h2>
        <Segmented
          label="Result source"
          value={mock?.kind ?? 'hand'}
          options={kinds}
          onValueChange={(kind) => onChange(newMock(kind, shownRunId))}
        />
        <span className="grow" />
        {mock?.kind === 'lookUp' && (
          <Button
            size="small"
            variant="quiet"
            icon={Plus}
            onClick={() => onChange({ ...mock, entries: [...mock.entries, emptyEntry] })}
          >
            Add row
          </Button>
        )}
      </div>
      {mock === null && (
        <p className="small tertiary tool-pane__note">Each call waits in the answer until you enter its result.</p>
      )}
      {mock?.kind === 'fixed' && (
        <div className="mock__fixed">
          <ContentField
            label="Result of every call"
            text={mock.content}
            onTextChange={(content) => onChange({ ...mock, content })}
          />
          <Checkbox
            label="Return as an error"
            isChecked={mock.isError}
            onCheckedChange={(isError) => onChange({ ...mock, isError })}
          />
        </div>
      )}
      {mock?.kind === 'lookUp' && <LookupTable mock={mock} onChange={onChange} />}
      {mock?.kind === 'recorded' && <RecordedRun mock={mock} shownRunId={shownRunId} onChange={onChange} />}
      {mock && <TryCall name={name} mock={mock} />}
    </section>
  );
}
