import { promptContent, type PromptContent } from '../../../shared/prompt-content.ts';
import { frontMatter } from '../transfer/formats/dotprompt.ts';
import { readPrompts, type ReadPrompts } from '../transfer/read-prompts.ts';
import { plainLines, TransferError } from '../transfer/source-text.ts';
import { literalTemplate } from '../transfer/templates/template-syntax.ts';
import { bodyOf, guarded } from '../transfer/dotprompt-body.ts';
import { writeDotprompt } from '../transfer/writers/dotprompt.ts';
import { editFrontMatter } from './front-matter-edits.ts';
import { hasSameDetails, isSameVersion } from './same-content.ts';

export interface EditTask {
  /** The path relative to the folder. */
  readonly name: string;
  /** Null creates a new file. */
  readonly text: string | null;
  /** The content of the text. Null if it can't be read; then the whole file is replaced. */
  readonly current: PromptContent | null;
  readonly target: PromptContent;
}

export type EditedFile =
  { readonly text: string; readonly problem: null } | { readonly text: null; readonly problem: string };

function read(name: string, text: string): ReadPrompts {
  return readPrompts({ name, content: text, format: 'dotprompt', variableStyle: null, folder: null });
}

/** Whether a text has the target's content. Files have only the name of the model. */
function says(name: string, text: string, { current, target }: EditTask): boolean {
  const [found] = read(name, text).prompts;
  if (found === undefined) return false;
  const { aiSystem, model } = target;
  const isModelUnchanged = current !== null && current.model === model && current.aiSystem === aiSystem;
  if (!isModelUnchanged && (found.model?.model ?? null) !== model) return false;
  const content = { ...promptContent(found.prompt), aiSystem, model };
  return isSameVersion(content, target) && hasSameDetails(content, target);
}

function writeNew({ target }: Pick<EditTask, 'target'>): string {
  // The path of the file determines the folder of its prompt.
  return writeDotprompt({ prompt: { ...target, folder: null }, version: { ...target, note: null } }).content;
}

const hasSameText = (one: PromptContent, other: PromptContent) =>
  one.promptText === other.promptText && (one.systemMessage ?? '') === (other.systemMessage ?? '');

/** Replaces only the changed text in the template. Null unless the old text occurs exactly once. */
function replacedBody(body: string, current: PromptContent, target: PromptContent): string | null {
  let changed = body;
  for (const [old, fresh] of [
    [current.promptText, guarded(target.promptText)],
    [literalTemplate(current.systemMessage ?? ''), guarded(literalTemplate(target.systemMessage ?? ''))],
  ] as const) {
    if (old === fresh) continue;
    const at = old === '' ? -1 : changed.indexOf(old);
    if (at === -1 || changed.indexOf(old, at + 1) !== -1) return null;
    changed = `${changed.slice(0, at)}${fresh}${changed.slice(at + old.length)}`;
  }
  return changed;
}

/** Candidates for the new file. The first one changes the least. */
function* candidates(task: EditTask, text: string): Generator<string> {
  const { current, target } = task;
  if (current === null) return yield writeNew(task);
  const match = frontMatter.exec(text);
  const [front, body] = match === null ? [null, text] : [match[1]!, match[2] ?? ''];
  const fields = editFrontMatter(front === null || front === '' ? '' : `${front}\n`, current, target);
  const head = fields === '' ? '' : `---\n${fields}---\n`;
  if (hasSameText(current, target)) return yield `${head}${body}`;
  const replaced = replacedBody(body, current, target);
  if (replaced !== null) yield `${head}${replaced}`;
  yield `${head}${bodyOf(target)}\n`;
}

/** Applies the file's line endings and byte order mark. */
function inManner(old: string, text: string): string {
  const isCarriage = /\r\n/.test(old) && !/[^\r]\n/.test(old);
  return `${old.startsWith('\uFEFF') ? '\uFEFF' : ''}${isCarriage ? text.replaceAll('\n', '\r\n') : text}`;
}

/**
 * Edits a file to have the target's content. Other fields, comments, order and formatting stay. Never returns a text with other content
 * than the target.
 */
export function editPromptFile(task: EditTask): EditedFile {
  const { name } = task;
  const target = {
    ...task.target,
    promptText: plainLines(task.target.promptText),
    systemMessage: task.target.systemMessage === null ? null : plainLines(task.target.systemMessage),
  };
  const old = task.text ?? '';
  const text = plainLines(old);
  try {
    for (const candidate of candidates({ ...task, target }, text)) {
      if (says(name, candidate, { ...task, target })) return { text: inManner(old, candidate), problem: null };
    }
    return { text: null, problem: 'A file of this form cannot hold this version' };
  } catch (error) {
    if (error instanceof TransferError) return { text: null, problem: error.message };
    throw error;
  }
}
