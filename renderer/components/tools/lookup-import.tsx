import { FileUp } from 'lucide-react';
import { useRef, useState } from 'react';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import {
  decodeLookupFile,
  type LookupMock,
  maxLookupFileBytes,
  type ReadLookup,
  readLookupFile,
} from '../../drafts/lookup-file.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { formatBytes, formatPlural } from '../format.ts';

const maxShown = 100;

async function readFile(file: File, mock: LookupMock, schema: JsonSchema | null): Promise<ReadLookup> {
  if (file.size > maxLookupFileBytes)
    return { problem: `The file has ${formatBytes(file.size)}; a lookup has at most 1 MB` };
  try {
    return readLookupFile(await decodeLookupFile(file), mock, schema);
  } catch {
    return { problem: "Couldn't read the file. It may have been moved or changed. Choose it again" };
  }
}

interface ReportProps {
  name: string;
  read: ReadLookup;
  onAdd: (mock: LookupMock) => void;
  onClose: () => void;
}

/** What a file would add, and the rows that it wouldn't. */
function ImportReport({ name, read, onAdd, onClose }: ReportProps) {
  const file = 'mock' in read ? read : null;
  const skipped = file?.skipped ?? [];
  const footer = (
    <>
      <p className="grow small negative" role="alert">
        {'problem' in read && `${read.problem}.`}
      </p>
      <Button onClick={onClose}>{file?.added ? 'Cancel' : 'Close'}</Button>
      {file !== null && file.added > 0 && (
        <Button variant="primary" onClick={() => onAdd(file.mock)}>
          Add {formatPlural(file.added, 'row')}
        </Button>
      )}
    </>
  );
  return (
    <Dialog title={`Import ${name}`} isOpen isWide onClose={onClose} footer={footer}>
      {file && (
        <p role="status">
          {formatPlural(file.added, 'row')} to add
          {skipped.length > 0 && `, ${formatPlural(skipped.length, 'row')} skipped`}.
        </p>
      )}
      {skipped.length > 0 && (
        <ul className="lookup-import__skipped small scroll" aria-label="Skipped rows" tabIndex={0}>
          {skipped.slice(0, maxShown).map(({ row, issue }) => (
            <li key={row}>
              <span className="strong numbers">Row {row}</span> <span className="caution">{issue}</span>
            </li>
          ))}
          {skipped.length > maxShown && (
            <li className="tertiary">{formatPlural(skipped.length - maxShown, 'more row')}</li>
          )}
        </ul>
      )}
      <p className="small tertiary">
        CSV has a column for each argument and the column &quot;result&quot;, and may have &quot;is_error&quot;. JSON is
        a list of such objects, or of {'{"arguments", "content"}'}.
      </p>
    </Dialog>
  );
}

interface LookupImportProps {
  mock: LookupMock;
  /** Of the tool's arguments; null while it is invalid. */
  schema: JsonSchema | null;
  onChange: (mock: LookupMock) => void;
}

/** Fills a lookup from a CSV or JSON file, after a report of what it has. */
export function LookupImport({ mock, schema, onChange }: LookupImportProps) {
  const picker = useRef<HTMLInputElement>(null);
  const [report, setReport] = useState<Pick<ReportProps, 'name' | 'read'> | null>(null);
  const take = async (file: File): Promise<void> => {
    setReport({ name: file.name, read: await readFile(file, mock, schema) });
  };
  return (
    <>
      <Button size="small" variant="quiet" icon={FileUp} onClick={() => picker.current?.click()}>
        Import file
      </Button>
      <input
        ref={picker}
        type="file"
        hidden
        accept=".csv,.tsv,.json,text/csv,application/json"
        aria-label="File with rows of the lookup"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) void take(file);
          event.target.value = '';
        }}
      />
      {report && (
        <ImportReport
          {...report}
          onAdd={(next) => {
            setReport(null);
            onChange(next);
          }}
          onClose={() => setReport(null)}
        />
      )}
    </>
  );
}
