import { Plus } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button } from '../button.tsx';
import { Checkbox, Segmented } from '../choices.tsx';
import { TextField } from '../text-field.tsx';
import { uuid } from '../../../shared/contract/common.ts';
import type { ToolMock } from '../../../shared/contract/tools.ts';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { mockResult } from '../../../shared/tool-mock.ts';
import { describeMistake, parseJson } from '../../drafts/json-text.ts';
import { maxLookupRows } from '../../drafts/lookup-file.ts';
import { useRun } from '../../queries/runs.ts';
import { LookupImport } from './lookup-import.tsx';
import { ContentField, emptyEntry, lastPageOf, LookupTable } from './lookup-table.tsx';

type MockKind = ToolMock['kind'] | 'hand';

const kinds: readonly { value: MockKind; label: string }[] = [
  { value: 'hand', label: 'By hand' },
  { value: 'fixed', label: 'Fixed' },
  { value: 'lookUp', label: 'Lookup' },
  { value: 'recorded', label: 'Recording' },
];

function newMock(kind: MockKind, runId: string | null): ToolMock | null {
  if (kind === 'hand') return null;
  if (kind === 'fixed') return { kind, content: '', isError: false };
  if (kind === 'recorded') return { kind, runId: runId ?? '' };
  return { kind, entries: [emptyEntry], otherwise: null };
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
  /** Of the tool's arguments; null while it is invalid. */
  schema: JsonSchema | null;
  shownRunId: string | null;
  onChange: (mock: ToolMock | null) => void;
}

/** Where the result of a call comes from. */
export function MockEditor({ name, mock, schema, shownRunId, onChange }: MockEditorProps) {
  const [chosenPage, setPage] = useState(0);
  const page = mock?.kind === 'lookUp' ? Math.min(chosenPage, lastPageOf(mock.entries.length)) : 0;
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
          <>
            <LookupImport mock={mock} schema={schema} onChange={onChange} />
            <Button
              size="small"
              variant="quiet"
              icon={Plus}
              aria-disabled={mock.entries.length >= maxLookupRows || undefined}
              onClick={() => {
                if (mock.entries.length >= maxLookupRows) return;
                onChange({ ...mock, entries: [...mock.entries, emptyEntry] });
                setPage(lastPageOf(mock.entries.length + 1));
              }}
            >
              Add row
            </Button>
          </>
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
      {mock?.kind === 'lookUp' && <LookupTable mock={mock} page={page} onPage={setPage} onChange={onChange} />}
      {mock?.kind === 'recorded' && <RecordedRun mock={mock} shownRunId={shownRunId} onChange={onChange} />}
      {mock && <TryCall name={name} mock={mock} />}
    </section>
  );
}
