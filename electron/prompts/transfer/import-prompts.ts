import { AppError } from '../../../shared/app-error.ts';
import type { PromptInput } from '../../../shared/contract/prompts.ts';
import {
  mostTransferredPrompts,
  type ImportFormat,
  type PreviewedSource,
  type VariableStyle,
} from '../../../shared/contract/prompt-transfer.ts';
import { withModel, type SystemOf } from './known-model.ts';
import type { ReadPrompts, ReadTask } from './read-prompts.ts';

export interface ImportRequest {
  readonly sources: readonly Pick<ReadTask, 'name' | 'content'>[];
  readonly format?: ImportFormat | null | undefined;
  readonly variableStyle?: VariableStyle | null | undefined;
  readonly folder?: string | null | undefined;
}

export interface ImportOptions {
  readonly read: (task: ReadTask, options: { signal: AbortSignal }) => Promise<ReadPrompts>;
  readonly systemOf: SystemOf;
  readonly signal: AbortSignal;
}

const tooMany = () =>
  new AppError(
    'payload_too_large',
    `The files hold more than ${mostTransferredPrompts} prompts. Import fewer at once.`,
  );

/** What an import would bring. Throws `payload_too_large` for too many prompts; files that cannot be read are reported. */
export async function previewImport(request: ImportRequest, options: ImportOptions): Promise<PreviewedSource[]> {
  const { read, systemOf, signal } = options;
  const { format = null, variableStyle = null, folder = null } = request;
  const previewed: PreviewedSource[] = [];
  let index = 0;
  for (const { name, content } of request.sources) {
    const found = await read({ name, content, format, variableStyle, folder }, { signal });
    if (index + found.prompts.length > mostTransferredPrompts) throw tooMany();
    const prompts = found.prompts.map((prompt) => ({ index: index++, ...withModel(prompt, systemOf) }));
    previewed.push({ name, format: found.format, prompts, entries: [...found.entries] });
  }
  return previewed;
}

/** The prompts of a preview that were chosen. Throws `invalid_request` for one that is not there. */
export function chosenPrompts(sources: readonly PreviewedSource[], chosen: readonly number[] | null): PromptInput[] {
  const prompts = sources.flatMap((source) => source.prompts.map(({ prompt }) => prompt));
  const indexes = chosen === null ? prompts.keys() : new Set(chosen);
  const kept = [...indexes].map((index) => {
    const prompt = prompts[index];
    if (prompt !== undefined) return prompt;
    throw new AppError('invalid_request', 'The files do not hold this prompt.', {
      details: [{ field: 'chosen', issue: `has ${index}, which no prompt of the files is` }],
    });
  });
  if (kept.length > 0) return kept;
  throw new AppError('invalid_request', 'There is no prompt to import: every file is refused.', {
    details: [{ field: 'sources', issue: 'hold no prompt that can be imported' }],
  });
}
