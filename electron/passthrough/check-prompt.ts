import { textOfMessages, textOfToolCalls } from '../../shared/contract/messages.ts';
import type { Guard, RunGuard } from '../completions/guard.ts';
import type { PromptFiles } from '../completions/prompt-file.ts';
import type { ReadRequest } from './read-call.ts';
import type { SentFile } from './sent-files.ts';

/** The contents of the files that messages refer to. */
export function promptFiles(files: readonly SentFile[]): PromptFiles {
  return new Map(
    files.map(({ part, content }) => {
      const stored = { id: part.fileId, name: part.name, bytes: part.bytes, width: null, height: null, pages: null };
      return [part.fileId, { ...stored, mediaType: part.mediaType as never, data: content }];
    }),
  );
}

/** What the guard checks: what is new in this call, and everything if a flagged earlier message blocks it. */
export async function checkPrompt(request: ReadRequest, guard: Guard, signal: AbortSignal): Promise<RunGuard | null> {
  const added = request.messages.slice(request.firstNew);
  const calls = added.map(textOfToolCalls).filter((text) => text !== '');
  return guard.begin(
    {
      renderedPrompt: [textOfMessages(added), ...calls].join('\n\n'),
      systemMessage: request.systemMessage,
      configuration: request.configuration,
      history: request.messages.slice(0, request.firstNew),
      files: promptFiles(request.files),
    },
    { signal },
  );
}
