import { AppError } from '../../shared/app-error.ts';
import { exportPrompts, importPrompts, previewPromptImport } from '../../shared/contract/prompt-transfer.ts';
import type { Prompts } from '../prompts/create-prompts.ts';
import { writeFiles } from '../prompts/transfer/export-prompts.ts';
import type { FinishOptions } from '../prompts/transfer/finish-draft.ts';
import { chosenPrompts, previewImport } from '../prompts/transfer/import-prompts.ts';
import { zipped } from '../prompts/transfer/writers/archive.ts';
import type { ExportedPrompt } from '../prompts/transfer/writers/exported-prompt.ts';
import { implement, type Handler } from './handler.ts';

function* exportedPrompts(
  prompts: Pick<Prompts, 'read' | 'readVersion'>,
  chosen: readonly { id: string; versionId?: string | null | undefined }[],
): Generator<ExportedPrompt> {
  for (const { id, versionId } of chosen) {
    const prompt = prompts.read(id);
    yield { prompt, version: prompts.readVersion(prompt.id, versionId ?? prompt.latestVersionId) };
  }
}

export function promptTransferHandlers(
  prompts: Pick<Prompts, 'read' | 'readVersion' | 'createAll'>,
  { systemOf }: Pick<FinishOptions, 'systemOf'>,
): Handler[] {
  return [
    implement(previewPromptImport, ({ body }) => ({ sources: previewImport(body, systemOf) })),
    implement(importPrompts, ({ body }) => {
      const chosen = chosenPrompts(previewImport(body, systemOf), body.chosen ?? null);
      return { prompts: prompts.createAll(chosen) };
    }),
    implement(exportPrompts, async ({ body }) => {
      const { files, entries } = writeFiles(exportedPrompts(prompts, body.prompts), body.format);
      if (body.isZipped !== true) return { files, archive: null, entries };
      if (files.length === 0)
        throw new AppError('invalid_request', entries[0]?.message ?? 'There is nothing to export.');
      const archive = { name: `prompts-${body.format}.zip`, base64: (await zipped(files)).toString('base64') };
      return { files: [], archive, entries };
    }),
  ];
}
