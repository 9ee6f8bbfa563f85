import { useEffect, useRef, useState } from 'react';
import type { DatasetPreview, ImportedDataset } from '../../../../shared/contract/dataset-import.ts';
import { Progress } from '../../../components/badges.tsx';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { type DatasetFile, useImportDataset, usePreviewDataset } from '../../../queries/dataset-import.ts';
import { choicesProblem, type ColumnChoice, Entries, PreviewTable, ReadingFields } from './import-preview.tsx';
import { ImportReport } from './import-report.tsx';
import { SourceFields, tooLarge, useSource } from './import-source.tsx';

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

export interface ImportDatasetProps {
  onClose: () => void;
  onImported: (dataset: ImportedDataset) => void;
  /** Opens a comparison with the checks that came with the rows. Absent where a setup takes them. */
  onCompare?: (dataset: ImportedDataset) => void;
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

/** A file or pasted table, a preview of its rows, and the import. Nothing is stored before the person has seen it. */
export function ImportDataset({ onClose, onImported, onCompare }: ImportDatasetProps) {
  const [imported, setImported] = useState<ImportedDataset | null>(null);
  const reading = usePreview();
  const { preview, found, choices, load, reset } = reading;
  const bring = useImport(reading);
  const source = useSource(load);
  const problem = found ? choicesProblem(choices) : tooLarge(source.chosen);
  if (imported)
    return <ImportReport imported={imported} onClose={() => onImported(imported)} {...(onCompare && { onCompare })} />;
  const show = (dataset: ImportedDataset): void => {
    const { entries, checks, judges } = dataset.report;
    const hasChecks = checks.length > 0 && onCompare !== undefined;
    const isNotable = judges.length > 0 || entries.some(({ outcome }) => outcome !== 'imported');
    if (isNotable || hasChecks) setImported(dataset);
    else onImported(dataset);
  };
  const failure = problem ?? source.failure ?? failureOf(found ? bring.error : preview.error);
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
        aria-disabled={source.chosen.length === 0 || problem !== null || undefined}
        onClick={source.read}
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
        <SourceFields {...source.fields} />
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
