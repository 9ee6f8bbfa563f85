import { create } from 'zustand';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  type ExportFormat,
  exportPrompts,
  importPrompts,
  type ImportSource,
  maxImportedBytes,
  maxImportedFiles,
  maxRequestBytes,
  type PreviewedSource,
  previewPromptImport,
  uploadPromptFiles,
} from '../../../../shared/contract/prompt-transfer.ts';
import type { Client } from '../../../host/client.ts';
import { takeOpenedFiles } from '../../../../shared/contract/host-specific.ts';
import type { Prompt } from '../../../../shared/contract/prompts.ts';
import { useHost } from '../../../host/host-context.tsx';

interface Transfer {
  /** The open dialog. */
  open: 'nothing' | 'import' | 'export';
  /** Counts the imports: files may be opened with Touchstone while the dialog is open. */
  importRequests: number;
}

export const useTransfer = create<Transfer>(() => ({ open: 'nothing', importRequests: 0 }));

export const openImport = (): void =>
  useTransfer.setState(({ importRequests }) => ({ open: 'import', importRequests: importRequests + 1 }));
export const openExport = (): void => useTransfer.setState({ open: 'export' });
export const closeTransfer = (): void => useTransfer.setState({ open: 'nothing' });

/** Hidden files, such as those of git and the operating system, are not prompts. */
const isHidden = (path: string) => path.split('/').some((part) => part.startsWith('.'));

/** Path of a file below the selected folder; its name if it was selected alone. */
function pathOf({ name, webkitRelativePath }: File): string {
  // Absent or empty for single files.
  return webkitRelativePath ? webkitRelativePath.split('/').slice(1).join('/') : name;
}

function base64Of(part: Blob, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(new Error(`Couldn't read ${name}.`));
    reader.readAsDataURL(part);
  });
}

/** The selected files that an import reads. */
export function importedFiles(files: readonly File[]): File[] {
  return files.filter((file) => !isHidden(pathOf(file)));
}

/** Why these files can't be imported together; null if they can. Checked before any of them is read. */
export function tooMuch(files: readonly File[]): string | null {
  const taken = importedFiles(files);
  if (taken.length > maxImportedFiles)
    return `Too many files (${taken.length}). Import up to ${maxImportedFiles} at a time.`;
  const bytes = taken.reduce((sum, { size }) => sum + size, 0);
  const largest = taken.toSorted((one, other) => other.size - one.size)[0];
  if (bytes <= maxImportedBytes || largest === undefined) return null;
  const megabytes = (bytes / 1_000_000).toFixed(1);
  return `The files are too large (${megabytes} MB; the largest is ${largest.name}). Import up to ${maxImportedBytes / 1_000_000} MB at a time.`;
}

/** The files in portions that fit a request; a large file is split. */
async function* portionsOf(files: readonly File[]): AsyncGenerator<ImportSource[]> {
  let portion: ImportSource[] = [];
  let room = maxRequestBytes;
  for (const file of files) {
    let start = 0;
    do {
      const part = file.slice(start, start + room);
      const base64 = await base64Of(part, file.name);
      portion.push({ name: pathOf(file), base64, ...(start > 0 && { isContinued: true }) });
      start += part.size;
      room -= part.size;
      if (room > 0) continue;
      yield portion;
      portion = [];
      room = maxRequestBytes;
    } while (start < file.size);
  }
  if (portion.length > 0) yield portion;
}

/** The source of an import: the files, or their upload. Rejects when a file can't be read. */
async function bringSources(
  client: Client,
  files: readonly File[],
  pasted: readonly ImportSource[],
): Promise<{ sources: ImportSource[] } | { uploadId: string }> {
  let waiting: ImportSource[] | null = null;
  let uploadId: string | null = null;
  const upload = async (sources: ImportSource[]): Promise<void> => {
    ({ uploadId } = await client.call(uploadPromptFiles, { body: { uploadId, sources } }));
  };
  for await (const portion of portionsOf(importedFiles(files))) {
    if (waiting !== null) await upload(waiting);
    waiting = portion;
  }
  const rest: ImportSource[] = [...(waiting ?? []), ...pasted];
  if (uploadId === null && waiting === null) return { sources: rest };
  const isSmall = rest.reduce((sum, { base64, text }) => sum + (base64 ?? text ?? '').length, 0) < maxRequestBytes;
  if (uploadId === null && isSmall) return { sources: rest };
  if (waiting !== null) await upload(waiting);
  if (pasted.length > 0) await upload([...pasted]);
  return { uploadId: uploadId! };
}

type ImportBody = ({ readonly sources: ImportSource[] } | { readonly uploadId: string }) & {
  readonly folder: string | null;
};

export interface Preview {
  /** The preview's source, which the import then saves. */
  readonly body: ImportBody;
  readonly sources: readonly PreviewedSource[];
}

export interface SourceDraft {
  readonly files: readonly File[];
  readonly pasted: string;
  readonly folder: string;
}

/** Previews an import. The caller shows the error. */
export function usePreviewImport(onPreview: (preview: Preview) => void) {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: async ({ files, pasted, folder }: SourceDraft): Promise<Preview> => {
      const texts = pasted.trim() === '' ? [] : [{ name: 'Pasted text', text: pasted }];
      const body = { ...(await bringSources(client, files, texts)), folder: folder.trim() || null };
      const { sources } = await client.call(previewPromptImport, { body });
      return { body, sources };
    },
    onSuccess: onPreview,
  });
}

/** What became of files that were opened with Touchstone. */
export interface OpenedFiles {
  /** Null without a readable file. */
  readonly preview: Preview | null;
  readonly problems: readonly string[];
}

/** Previews the files that were opened with Touchstone since the last time. */
export function usePreviewOpenedFiles(onOpened: (opened: OpenedFiles) => void) {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async (): Promise<OpenedFiles> => {
      const { files, problems } = await client.call(takeOpenedFiles);
      if (files.length === 0) return { preview: null, problems };
      const body = { sources: files, folder: null };
      const { sources } = await client.call(previewPromptImport, { body });
      return { preview: { body, sources }, problems };
    },
    onSuccess: onOpened,
  });
}

/**
 * Saves the selected prompts, all or none. Calls `onImported` before the list is refetched, because an empty library renders
 * differently afterwards, and also when the dialog is closed by then. The caller shows the error.
 */
export function useImportPrompts(onImported: (prompts: readonly Prompt[]) => unknown) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ImportBody & { chosen: number[] }) => client.call(importPrompts, { body }),
    onSuccess: ({ prompts }) => void onImported(prompts),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['prompts'] }),
  });
}

/** Exports prompts as files; several become one archive. The caller shows the error. */
export function useExportPrompts() {
  const { client } = useHost();
  return useMutation({
    meta: { isOnlyForCaller: true },
    mutationFn: ({ ids, format }: { ids: readonly string[]; format: ExportFormat }) =>
      client.call(exportPrompts, {
        body: { prompts: ids.map((id) => ({ id })), format, isZipped: ids.length > 1 && format !== 'jsonl' },
      }),
  });
}
