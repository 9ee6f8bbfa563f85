/** Entry point of the thread that reads, edits and writes prompt files; started by `create-prompt-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../../../shared/app-error.ts';
import { editPromptFile, type EditedFile, type EditTask } from '../folder/edit-prompt-file.ts';
import { writeFiles, type WriteTask, type WrittenFiles } from './export-prompts.ts';
import { readPrompts, type ReadPrompts, type ReadTask } from './read-prompts.ts';
import { findReferences, type FindTask, type FoundReference } from './referenced-files.ts';

export type TransferTask =
  | { readonly kind: 'read'; readonly task: ReadTask }
  | { readonly kind: 'edit'; readonly task: EditTask }
  | { readonly kind: 'find'; readonly task: FindTask }
  | { readonly kind: 'write'; readonly task: WriteTask };

export type TransferAnswer =
  | { readonly kind: 'read'; readonly result: ReadPrompts }
  | { readonly kind: 'edit'; readonly result: EditedFile }
  | { readonly kind: 'find'; readonly result: readonly FoundReference[] }
  | { readonly kind: 'write'; readonly result: WrittenFiles }
  | { readonly kind: 'rejected'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: string };

const port = parentPort!;

function answerTo(question: TransferTask): TransferAnswer {
  try {
    if (question.kind === 'read') return { kind: 'read', result: readPrompts(question.task) };
    if (question.kind === 'find') return { kind: 'find', result: findReferences(question.task) };
    if (question.kind === 'write') return { kind: 'write', result: writeFiles(question.task) };
    return { kind: 'edit', result: editPromptFile(question.task) };
  } catch (error) {
    if (error instanceof AppError) return { kind: 'rejected', code: error.code, message: error.message };
    return { kind: 'failed', failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

port.on('message', (question: TransferTask) => port.postMessage(answerTo(question)));
