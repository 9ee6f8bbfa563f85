import { makeZip } from 'client-zip';
import { useId, useRef, useState } from 'react';
import { maxDatasetBytes } from '../../../../shared/contract/datasets.ts';
import { DropZone } from '../../../components/files/drop-zone.tsx';
import type { DroppedFile } from '../../../components/files/dropped-files.ts';
import { formatBytes, formatPlural } from '../../../components/format.ts';
import type { DatasetFile } from '../../../queries/dataset-import.ts';

const maxMegabytes = maxDatasetBytes / 1_048_576;

const tableName = /\.(?:csv|tsv|jsonl|ndjson|json|ya?ml|xlsx)$/i;

/** Files that are imported together are sent as one ZIP file, which has the name of the first table. */
async function oneFileOf(chosen: readonly DroppedFile[]): Promise<File> {
  const [only] = chosen;
  if (only && chosen.length === 1) return only.file;
  const table = chosen.find(({ name }) => tableName.test(name)) ?? only;
  const entries = chosen.map(({ file, name }) => ({ input: file, name, lastModified: file.lastModified }));
  const archive = await new Response(makeZip(entries)).blob();
  const base = table?.file.name.replace(/\.[^.]*$/, '') ?? '';
  return new File([archive], `${base || 'Imported dataset'}.zip`, { type: 'application/zip' });
}

function bytesOf(chosen: readonly DroppedFile[]): number {
  return chosen.reduce((sum, { file }) => sum + file.size, 0);
}

interface SourceFieldsProps {
  files: readonly DroppedFile[];
  pasted: string;
  onFiles: (files: readonly DroppedFile[]) => void;
  onPasted: (text: string) => void;
}

/** The chosen files in a few words. */
function filesText(files: readonly DroppedFile[]): string {
  const [first] = files;
  if (!first) return 'or drop them here, folders too';
  const others = files.length > 1 ? ` and ${formatPlural(files.length - 1, 'other file')}` : '';
  return `${first.name}${others}, ${formatBytes(bytesOf(files))}`;
}

export function SourceFields({ files, pasted, onFiles, onPasted }: SourceFieldsProps) {
  const pastedId = useId();
  return (
    <div className="import-dataset">
      <p className="small secondary">
        CSV, Excel, JSONL, JSON, promptfoo tests, OpenAI Evals, GitHub Models and Langfuse. Up to 100,000 rows and{' '}
        {maxMegabytes} MB. Add the files that belong to the table, or a ZIP file of them: images that its cells name,
        the graders of an eval, or the files that a promptfoo configuration refers to.
      </p>
      <DropZone label="Dataset files" isMultiple text={filesText(files)} onFiles={onFiles} />
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

function filesOf(files: readonly DroppedFile[], pasted: string): readonly DroppedFile[] {
  if (files.length > 0 || pasted.trim() === '') return files;
  const name = 'Pasted table';
  return [{ file: new File([pasted], name, { type: 'text/plain' }), name }];
}

export function tooLarge(files: readonly DroppedFile[]): string | null {
  const bytes = bytesOf(files);
  if (bytes <= maxDatasetBytes) return null;
  const size = `${Math.ceil(bytes / 1_048_576)} MB, more than ${maxMegabytes} MB`;
  return files.length === 1
    ? `This file has ${size}. Split it.`
    : `These ${files.length} files have ${size}. Split the table.`;
}

/** Chosen files, which are loaded at once, or a pasted table. */
export function useSource(load: (source: DatasetFile) => void) {
  const [files, setFiles] = useState<readonly DroppedFile[]>([]);
  const [pasted, setPasted] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const newest = useRef(0);
  /** Several files become one, which can take seconds; meanwhile others may be chosen. */
  const read = async (chosen: readonly DroppedFile[]): Promise<void> => {
    newest.current += 1;
    const number = newest.current;
    setFailure(null);
    try {
      const file = await oneFileOf(chosen);
      if (number === newest.current) load({ file });
    } catch {
      // A file was removed or changed after it was chosen.
      if (number === newest.current) setFailure("Couldn't read the files. Choose them again.");
    }
  };
  const onFiles = (next: readonly DroppedFile[]): void => {
    setFiles(next);
    setPasted('');
    if (tooLarge(next) === null) void read(next);
  };
  const onPasted = (text: string): void => {
    setPasted(text);
    setFiles([]);
  };
  const chosen = filesOf(files, pasted);
  return { fields: { files, pasted, onFiles, onPasted }, chosen, failure, read: () => void read(chosen) };
}
