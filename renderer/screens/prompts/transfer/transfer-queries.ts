import { useMutation, useQueryClient } from '@tanstack/react-query';
import { takeOpenedFiles } from '../../../../shared/contract/desktop.ts';
import {
  exportPrompts,
  importPrompts,
  previewPromptImport,
  type ExportFormat,
  type ImportSource,
  type PreviewedSource,
} from '../../../../shared/contract/prompt-transfer.ts';
import type { Prompt } from '../../../../shared/contract/prompts.ts';
import { useHost } from '../../../host/host-context.tsx';
import { bringSources } from './read-files.ts';

export type ImportBody = ({ readonly sources: ImportSource[] } | { readonly uploadId: string }) & {
  readonly folder: string | null;
};

export interface Preview {
  /** The same is asked to keep what the preview has shown. */
  readonly body: ImportBody;
  readonly sources: readonly PreviewedSource[];
}

export interface SourceDraft {
  readonly files: readonly File[];
  readonly pasted: string;
  readonly folder: string;
}

/** What an import would bring. The caller shows why it could not be told. */
export function usePreviewImport(onPreview: (preview: Preview) => void) {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async ({ files, pasted, folder }: SourceDraft): Promise<Preview> => {
      const texts = pasted.trim() === '' ? [] : [{ name: 'Pasted text', text: pasted }];
      const body = { ...(await bringSources(client, files, texts)), folder: folder.trim() || null };
      const { sources } = await client.call(previewPromptImport, { body });
      return { body, sources };
    },
    onSuccess: onPreview,
  });
}

/** What an import of the files that were opened with Touchstone would bring; null without one that can be read. */
export function usePreviewOpenedFiles(onPreview: (preview: Preview) => void) {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: async (): Promise<{ preview: Preview | null; problems: readonly string[] }> => {
      const { files, problems } = await client.call(takeOpenedFiles);
      if (files.length === 0) return { preview: null, problems };
      const body = { sources: files, folder: null };
      const { sources } = await client.call(previewPromptImport, { body });
      return { preview: { body, sources }, problems };
    },
    onSuccess: ({ preview }) => preview && onPreview(preview),
  });
}

/**
 * Keeps the chosen prompts, all or none, and tells them before the list is read again: a library that was empty is drawn anew then. The
 * caller shows why they could not be kept.
 */
export function useImportPrompts(onKept: (prompts: readonly Prompt[]) => void) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: ImportBody & { chosen: number[] }) => client.call(importPrompts, { body }),
    onSuccess: ({ prompts }) => onKept(prompts),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['prompts'] }),
  });
}

/** Prompts as files; several come as one archive. The caller shows why they could not be written. */
export function useExportPrompts() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ ids, format }: { ids: readonly string[]; format: ExportFormat }) =>
      client.call(exportPrompts, {
        body: { prompts: ids.map((id) => ({ id })), format, isZipped: ids.length > 1 && format !== 'jsonl' },
      }),
  });
}
