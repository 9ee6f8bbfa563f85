import { AppError } from '../../shared/app-error.ts';
import {
  exportPrompts,
  importPrompts,
  previewPromptImport,
  uploadPromptFiles,
  type ImportSource,
} from '../../shared/contract/prompt-transfer.ts';
import type { Prompts } from '../prompts/create-prompts.ts';
import type { PromptReader } from '../prompts/transfer/create-prompt-reader.ts';
import { chosenPrompts, previewImport, type ImportRequest } from '../prompts/transfer/import-prompts.ts';
import type { SystemOf } from '../prompts/transfer/model-names.ts';
import { contentOf, requireImportable, type UploadStore } from '../prompts/transfer/upload-store.ts';
import type { ExportedPrompt } from '../prompts/transfer/writers/exported-prompt.ts';
import { implement, type Handler } from './api.ts';
import { longJsonResponse } from './json-response.ts';

export interface PromptTransferServices {
  readonly prompts: Pick<Prompts, 'read' | 'readVersion' | 'createAll'>;
  readonly reader: Pick<PromptReader, 'read' | 'find' | 'write'>;
  readonly uploads: UploadStore;
  readonly systemOf: SystemOf;
}

function* exportedPrompts(
  prompts: Pick<Prompts, 'read' | 'readVersion'>,
  chosen: readonly { id: string; versionId?: string | null | undefined }[],
): Generator<ExportedPrompt> {
  for (const { id, versionId } of chosen) {
    const prompt = prompts.read(id);
    yield { prompt, version: prompts.readVersion(prompt.id, versionId ?? prompt.latestVersionId) };
  }
}

type ImportBody = Omit<ImportRequest, 'sources'> & {
  readonly sources?: readonly ImportSource[] | undefined;
  readonly uploadId?: string | undefined;
};

export function promptTransferHandlers({ prompts, reader, uploads, systemOf }: PromptTransferServices): Handler[] {
  function contentsOf({ sources, uploadId }: ImportBody): ImportRequest['sources'] {
    if (uploadId !== undefined) return uploads.read(uploadId);
    const contents = (sources ?? []).map((source) => ({ name: source.name, content: contentOf(source) }));
    requireImportable(
      contents.length,
      contents.reduce((sum, { content }) => sum + content.length, 0),
    );
    return contents;
  }

  const readImport = (body: ImportBody, signal: AbortSignal) =>
    previewImport({ ...body, sources: contentsOf(body) }, { reader, systemOf, signal });

  return [
    implement(uploadPromptFiles, ({ body }) => uploads.add(body.uploadId ?? null, body.sources)),
    implement(previewPromptImport, async ({ body, signal }) => ({ sources: await readImport(body, signal) })),
    implement(importPrompts, async ({ body, signal }) => {
      const chosen = chosenPrompts(await readImport(body, signal), body.chosen ?? null);
      const created = prompts.createAll(chosen, { areTemplatesChecked: true });
      if (body.uploadId !== undefined) uploads.remove(body.uploadId);
      return { prompts: created };
    }),
    implement(exportPrompts, async ({ body, signal }) => {
      const { readExported, zipped } = await import('../prompts/transfer/export-prompts.ts');
      const exported = await readExported(exportedPrompts(prompts, body.prompts));
      const { files, entries } = await reader.write({ exported, format: body.format }, { signal });
      if (body.isZipped !== true) return longJsonResponse({ files, archive: null, entries });
      if (files.length === 0) throw new AppError('invalid_request', entries[0]?.message ?? 'Nothing to export.');
      const archive = { name: `prompts-${body.format}.zip`, base64: (await zipped(files)).toString('base64') };
      return { files: [], archive, entries };
    }),
  ];
}
