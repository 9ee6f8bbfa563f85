/** Entry point of the thread that reads, edits and writes prompt files; started by `create-prompt-reader.ts`. */
import { serveCalls } from '../../common/worker-server.ts';
import { editPromptFile } from '../folder/edit-prompt-file.ts';
import { writeFiles } from './export-prompts.ts';
import { readPrompts } from './read-prompts.ts';
import { findReferences } from './referenced-files.ts';

const methods = { readPrompts, editPromptFile, findReferences, writeFiles };

export type TransferMethods = typeof methods;

serveCalls(methods);
