/** Entry point of the thread that reads and edits prompt files; started by `create-prompt-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { editPromptFile, type EditedFile, type EditTask } from '../folder/edit-prompt-file.ts';
import { readPrompts, type ReadPrompts, type ReadTask } from './read-prompts.ts';
import { findReferences, type FindTask, type FoundReference } from './referenced-files.ts';

export type TransferTask =
  | { readonly kind: 'read'; readonly task: ReadTask }
  | { readonly kind: 'edit'; readonly task: EditTask }
  | { readonly kind: 'find'; readonly task: FindTask };

export type TransferAnswer =
  | { readonly kind: 'read'; readonly result: ReadPrompts }
  | { readonly kind: 'edit'; readonly result: EditedFile }
  | { readonly kind: 'find'; readonly result: readonly FoundReference[] }
  | { readonly kind: 'failed'; readonly failure: string };

const port = parentPort!;

function answerTo(question: TransferTask): TransferAnswer {
  try {
    if (question.kind === 'read') return { kind: 'read', result: readPrompts(question.task) };
    if (question.kind === 'find') return { kind: 'find', result: findReferences(question.task) };
    return { kind: 'edit', result: editPromptFile(question.task) };
  } catch (error) {
    return { kind: 'failed', failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

port.on('message', (question: TransferTask) => port.postMessage(answerTo(question)));
