import { FileUp } from 'lucide-react';
import { type DragEvent, useEffect, useId, useRef, useState } from 'react';
import type { DatasetPreview, ImportedDataset } from '../../../../shared/contract/dataset-import.ts';
import { maxDatasetBytes } from '../../../../shared/contract/datasets.ts';
import { Progress } from '../../../components/badges.tsx';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { formatBytes, formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { type DatasetFile, useImportDataset, usePreviewDataset } from '../../../queries/dataset-import.ts';
import { choicesProblem, type ColumnChoice, Entries, PreviewTable, ReadingFields } from './import-preview.tsx';

interface SourceFieldsProps {
  file: File | null;
  pasted: string;
  onFile: (file: File) => void;
  onPasted: (text: string) => void;
}

function DropZone({ file, onFile }: Pick<SourceFieldsProps, 'file' | 'onFile'>) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const [first] = event.dataTransfer.files;
    if (first) onFile(first);
  };
  return (
    <div
      className={classNames('import-dataset__drop', isOver && 'is-over')}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Button icon={FileUp} onClick={() => picker.current?.click()}>
        Choose file
      </Button>
      <span className="small secondary" role="status">
        {file ? `${file.name}, ${formatBytes(file.size)}` : 'or drop it here'}
      </span>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label="Dataset file"
        onChange={(event) => {
          const [first] = event.target.files ?? [];
          if (first) onFile(first);
          event.target.value = '';
        }}
      />
    </div>
  );
}

function SourceFields({ file, pasted, onFile, onPasted }: SourceFieldsProps) {
  const pastedId = useId();
  return (
    <div className="import-dataset">
      <p className="small secondary">
        CSV, Excel, JSONL, JSON, a ZIP with a table and its files, promptfoo tests, OpenAI Evals, GitHub Models and
        Langfuse. Up to 100,000 rows and {formatBytes(maxDatasetBytes)}.
      </p>
      <DropZone file={file} onFile={onFile} />
      <div className="labelled">
        <label htmlFor={pastedId}>Or paste a table</label>
        <textarea
          id={pastedId}
          className="field mono import-dataset__pasted"
          rows={6}
          spellCheck={false}
          placeholder="Cells from a spreadsheet, CSV or JSONL, with a header"
          value={pasted}
          onChange={(event) => onPasted(event.target.value)}
        />
      </div>
    </div>
  );
}

function fileOf(file: File | null, pasted: string): File | null {
  if (file) return file;
  return pasted.trim() === '' ? null : new File([pasted], 'Pasted table', { type: 'text/plain' });
}

/** The preview of the chosen file. A newer request replaces an older one. */
function usePreview() {
  const preview = usePreviewDataset();
  const [found, setFound] = useState<{ source: DatasetFile; preview: DatasetPreview } | null>(null);
  const [choices, setChoices] = useState<readonly ColumnChoice[]>([]);
  const [name, setName] = useState('');
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const load = (source: DatasetFile): void => {
    controller.current?.abort();
    const current = new AbortController();
    controller.current = current;
    preview.mutate(
      { ...source, signal: current.signal },
      {
        onSuccess: (result) => {
          if (current.signal.aborted) return;
          setFound({ source, preview: result });
          setName(result.name);
          setChoices(result.columns.map((column) => ({ name: column.name, type: column.type, isImported: true })));
        },
      },
    );
  };
  const reset = (): void => {
    controller.current?.abort();
    preview.reset();
    setFound(null);
  };
  return { preview, found, choices, setChoices, name, setName, load, reset };
}

/** What an import left out or changed, before the dataset opens. */
function ImportReport({ imported, onClose }: { imported: ImportedDataset; onClose: () => void }) {
  const footer = (
    <Button variant="primary" onClick={onClose}>
      Open dataset
    </Button>
  );
  return (
    <Dialog
      title={`Imported ${formatPlural(imported.rowCount, 'row')}`}
      isOpen
      isWide
      onClose={onClose}
      footer={footer}
    >
      <Entries entries={imported.report.entries} />
    </Dialog>
  );
}

export interface ImportDatasetProps {
  onClose: () => void;
  onImported: (dataset: ImportedDataset) => void;
}

/** The import itself, which the person can cancel. */
function useImport({ found, choices, name }: ReturnType<typeof usePreview>) {
  const [progress, setProgress] = useState(0);
  const controller = useRef<AbortController | null>(null);
  const { mutate, ...state } = useImportDataset();
  useEffect(() => () => controller.current?.abort(), []);
  const run = (onSuccess: (dataset: ImportedDataset) => void): void => {
    if (!found) return;
    const { columns, report, name: fileName } = found.preview;
    controller.current = new AbortController();
    const names = choices.flatMap((choice, index): [string, string | null][] => {
      const next = choice.isImported ? choice.name.trim() : null;
      return next === columns[index]!.name ? [] : [[columns[index]!.name, next]];
    });
    const types = choices.flatMap(({ type, isImported }, index) =>
      isImported ? [[columns[index]!.name, type] as const] : [],
    );
    setProgress(0);
    mutate(
      {
        ...found.source,
        format: report.format,
        name: name.trim() || fileName,
        names: Object.fromEntries(names),
        types: Object.fromEntries(types),
        signal: controller.current.signal,
        onProgress: setProgress,
      },
      { onSuccess },
    );
  };
  return { ...state, progress, run, cancel: () => controller.current?.abort() };
}

function PreviewStep({ reading, progress }: { reading: ReturnType<typeof usePreview>; progress: number | null }) {
  const { found, choices, setChoices, name, setName, load } = reading;
  if (!found) return null;
  return (
    <div className="import-dataset">
      <div className="import-dataset__options">
        <TextField label="Name" maxLength={300} value={name} onValueChange={setName} />
        <ReadingFields source={found.source} preview={found.preview} onChange={load} />
      </div>
      <PreviewTable preview={found.preview} choices={choices} onChange={setChoices} />
      <Entries entries={found.preview.report.entries} />
      {progress !== null && <Progress label="Importing" fraction={progress} />}
    </div>
  );
}

function tooLarge(file: File | null): string | null {
  return file && file.size > maxDatasetBytes
    ? `This file has ${formatBytes(file.size)}, more than ${formatBytes(maxDatasetBytes)}. Split it.`
    : null;
}

/** A chosen file, which is loaded at once, or a pasted table. */
function useSource(load: (file: File) => void) {
  const [file, setFile] = useState<File | null>(null);
  const [pasted, setPasted] = useState('');
  const onFile = (next: File): void => {
    setFile(next);
    setPasted('');
    if (tooLarge(next) === null) load(next);
  };
  const onPasted = (text: string): void => {
    setPasted(text);
    setFile(null);
  };
  return { file, pasted, chosen: fileOf(file, pasted), onFile, onPasted };
}

/** A file or pasted table, a preview of its rows, and the import. Nothing is stored before the person has seen it. */
export function ImportDataset({ onClose, onImported }: ImportDatasetProps) {
  const [imported, setImported] = useState<ImportedDataset | null>(null);
  const reading = usePreview();
  const { preview, found, choices, load, reset } = reading;
  const bring = useImport(reading);
  const { chosen, ...source } = useSource((file) => load({ file }));
  const problem = found ? choicesProblem(choices) : tooLarge(chosen);
  if (imported) return <ImportReport imported={imported} onClose={() => onImported(imported)} />;
  const show = (dataset: ImportedDataset): void => {
    const isNotable = dataset.report.entries.some(({ outcome }) => outcome !== 'imported');
    if (isNotable) setImported(dataset);
    else onImported(dataset);
  };
  const failure = problem ?? failureOf(found ? bring.error : preview.error);
  const footer = found ? (
    <>
      <Button onClick={bring.isPending ? bring.cancel : reset}>{bring.isPending ? 'Cancel import' : 'Back'}</Button>
      <Button
        variant="primary"
        isBusy={bring.isPending}
        aria-disabled={problem !== null || undefined}
        onClick={() => bring.run(show)}
      >
        Import {formatPlural(found.preview.rowCount, 'row')}
      </Button>
    </>
  ) : (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        variant="primary"
        isBusy={preview.isPending}
        aria-disabled={chosen === null || problem !== null || undefined}
        onClick={() => chosen && load({ file: chosen })}
      >
        Preview import
      </Button>
    </>
  );
  return (
    <Dialog title="Import dataset" isOpen isWide onClose={onClose} footer={footer}>
      {found ? (
        <PreviewStep reading={reading} progress={bring.isPending ? bring.progress : null} />
      ) : (
        <SourceFields {...source} />
      )}
      {failure !== null && (
        <p className="small negative" role="alert">
          {failure}
        </p>
      )}
    </Dialog>
  );
}

/** Null for none, and for what the person cancelled. */
function failureOf(error: unknown): string | null {
  if (!error || (error instanceof Error && error.name === 'AbortError')) return null;
  return describeError(error).message;
}
