import {
  type CsvField,
  csvFields,
  type LogFormat,
  type LogPreview,
  type LogReport,
} from '../../../../shared/contract/log-imports.ts';
import { Badge } from '../../../components/badges.tsx';
import { formatCount, formatPlural, formatTime } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';

export const formatNames: Readonly<Record<LogFormat, string>> = {
  otlp: 'OpenTelemetry',
  langfuse: 'Langfuse',
  'openai-chat': 'OpenAI chats',
  csv: 'CSV',
};

const fieldNames: Readonly<Record<CsvField, string>> = {
  id: 'ID',
  conversation: 'Conversation',
  time: 'Time',
  system: 'System message',
  prompt: 'Prompt',
  answer: 'Answer',
  provider: 'Provider',
  model: 'Model',
  promptTokens: 'Prompt tokens',
  completionTokens: 'Completion tokens',
  cost: 'Cost (USD)',
  latencyMs: 'Latency (ms)',
  error: 'Error',
  client: 'Program',
};

/** Counts that a person should know before they rely on the figures. */
function notesOf(report: LogReport): string[] {
  const note = (count: number, text: string) => (count === 0 ? [] : [`${formatPlural(count, 'call')} ${text}`]);
  return [
    ...note(report.withoutTime, 'without a time get the time of the import'),
    ...note(report.withoutAnswer, 'without an answer'),
    ...note(report.withoutUsage, 'without token counts, which stay unknown'),
    ...note(report.costFromLog, 'with a cost in the log'),
    ...note(report.costFromCatalogue, 'whose cost is calculated from tokens and the prices of the catalogue'),
  ];
}

/** What an import stores and leaves out. */
export function ReportEntries({ report }: { report: LogReport }) {
  return (
    <ul className="import-log__entries small" aria-label="Report">
      {report.duplicates > 0 && (
        <li className="row">
          <Badge tone="neutral">Duplicate</Badge>
          <span>{formatPlural(report.duplicates, 'call')} already in the audit or twice in the file</span>
        </li>
      )}
      {report.leftOut.map(({ reason, entries }) => (
        <li key={reason} className="row">
          <Badge tone="caution">Skipped</Badge>
          <span>
            {reason} <span className="tertiary">({formatCount(entries)})</span>
          </span>
        </li>
      ))}
      {notesOf(report).map((note) => (
        <li key={note} className="row">
          <Badge tone="accent">Note</Badge>
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}

type Columns = Readonly<Record<string, CsvField | null>>;

function ColumnFields({ preview, onColumns }: { preview: LogPreview; onColumns: (columns: Columns) => void }) {
  const chosen: Columns = Object.fromEntries(preview.columns.map(({ name, field }) => [name, field]));
  const options = [
    { value: '', label: 'Not imported' },
    ...csvFields.map((value) => ({ value: value as string, label: fieldNames[value] })),
  ];
  const change = (name: string, field: string): void => {
    const others = Object.entries(chosen).map(([column, own]) => [column, own === field ? null : own]);
    onColumns({ ...Object.fromEntries(others), [name]: field === '' ? null : (field as CsvField) });
  };
  return (
    <div className="import-log__columns" role="group" aria-label="Columns">
      {preview.columns.map(({ name, field }) => (
        <div key={name} className="row">
          <span className="mono--small truncate grow">{name}</span>
          <Select
            label={`What ${name} is`}
            size="small"
            value={field ?? ''}
            options={options}
            onValueChange={(next) => change(name, next)}
          />
        </div>
      ))}
    </div>
  );
}

interface PreviewReportProps {
  preview: LogPreview;
  onColumns: (columns: Columns) => void;
}

/** A log before its import: what it has, what is left out, and its first calls. */
export function PreviewReport({ preview, onColumns }: PreviewReportProps) {
  const { report, examples, format } = preview;
  const span = report.firstAt && report.lastAt ? `${formatTime(report.firstAt)} to ${formatTime(report.lastAt)}` : null;
  return (
    <>
      <p className="small" role="status">
        <span className="medium">{formatNames[format]}</span>: {formatPlural(report.calls, 'new call')} in{' '}
        {formatPlural(report.conversations, 'conversation')}
        {span && <span className="tertiary">, {span}</span>}
      </p>
      {preview.columns.length > 0 && <ColumnFields preview={preview} onColumns={onColumns} />}
      <ReportEntries report={report} />
      {examples.length > 0 && (
        <table className="table import-log__examples" aria-label="First calls">
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Prompt</th>
              <th scope="col">Answer</th>
            </tr>
          </thead>
          <tbody>
            {examples.map(({ model, prompt, answer }, index) => (
              <tr key={index}>
                <td className="mono--small truncate">{model}</td>
                <td>
                  <span className="clamped small">{prompt}</span>
                </td>
                <td>
                  <span className="clamped small">{answer}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
