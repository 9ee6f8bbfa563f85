import { useEffect, useRef, useState } from 'react';
import { type LogPreview, maxLogBytes } from '../../../../shared/contract/log-imports.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { DropZone } from '../../../components/files/drop-zone.tsx';
import { formatBytes, formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import {
  type LogSource,
  useImportLog,
  useLogImports,
  usePreviewLog,
  useRenewalAfterImports,
} from '../../../queries/log-imports.ts';
import { ImportList } from './import-list.tsx';
import { PreviewReport } from './preview-report.tsx';
import './import.css';

/** The chosen log with its preview. A newer request replaces an older one. */
function useLog() {
  const preview = usePreviewLog();
  const start = useImportLog();
  const [source, setSource] = useState<LogSource | null>(null);
  const [found, setFound] = useState<LogPreview | null>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const begin = (): AbortSignal => {
    controller.current?.abort();
    controller.current = new AbortController();
    return controller.current.signal;
  };
  const load = (next: LogSource): void => {
    setSource(next);
    start.reset();
    preview.reset();
    if (!next.columns) setFound(null);
    const signal = begin();
    if (next.file.size > maxLogBytes) return;
    preview.mutate({ ...next, signal }, { onSuccess: (result) => void (signal.aborted || setFound(result)) });
  };
  const reset = (): void => {
    controller.current?.abort();
    preview.reset();
    start.reset();
    setSource(null);
    setFound(null);
  };
  const run = (): void => {
    if (source) start.mutate({ ...source, signal: begin() }, { onSuccess: reset });
  };
  return { source, found, load, reset, run, preview, start };
}

/** Null for none, and for what was replaced by a newer request. */
function failureOf({ source, preview, start }: ReturnType<typeof useLog>): string | null {
  if (source && source.file.size > maxLogBytes)
    return `This file has ${formatBytes(source.file.size)}, more than 1 GB. Split it.`;
  const error = preview.error ?? start.error;
  if (!error || error.name === 'AbortError') return null;
  return describeError(error).message;
}

interface ImportLogProps {
  onClose: () => void;
  /** Shows the runs of an import. */
  onShow: (importId: string) => void;
}

/** Imports of logs: a file with a report of what it has, and the earlier imports. */
export function ImportLog({ onClose, onShow }: ImportLogProps) {
  const log = useLog();
  const imports = useLogImports().data?.data;
  useRenewalAfterImports(imports);
  const { source, found, load, reset, run, preview, start } = log;
  const failure = failureOf(log);
  const calls = found?.report.calls ?? 0;
  const footer = (
    <>
      <Button onClick={source ? reset : onClose}>{source ? 'Back' : 'Close'}</Button>
      {source && (
        <Button
          variant="primary"
          isBusy={preview.isPending || start.isPending}
          aria-disabled={calls === 0 || undefined}
          onClick={() => calls > 0 && run()}
        >
          {preview.isPending ? 'Reading' : `Import ${formatPlural(calls, 'call')}`}
        </Button>
      )}
    </>
  );
  return (
    <Dialog title="Import logs" isOpen isWide onClose={onClose} footer={footer}>
      <div className="import-log">
        {!source && (
          <p className="small secondary">
            Traces of OpenTelemetry with the GenAI conventions (OTLP as JSON), exports of Langfuse, chats of OpenAI
            (JSONL) and CSV, up to 1 GB. You see what a file has before anything is stored. Each call is stored once.
          </p>
        )}
        <DropZone
          label="Log"
          text={source ? `${source.file.name}, ${formatBytes(source.file.size)}` : 'or drop it here'}
          onFiles={([first]) => first && load({ file: first.file })}
        />
        {failure !== null && (
          <p className="small negative" role="alert">
            {failure}
          </p>
        )}
        {source && found && <PreviewReport preview={found} onColumns={(columns) => load({ ...source, columns })} />}
        {!source && <ImportList imports={imports ?? []} onShow={onShow} />}
      </div>
    </Dialog>
  );
}
