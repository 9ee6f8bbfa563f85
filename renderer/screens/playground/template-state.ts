import { useMemo, useState } from 'react';
import type { FileForm } from '../../../shared/contract/files.ts';
import type { FilePart, Message } from '../../../shared/contract/messages.ts';
import { AppError } from '../../../shared/app-error.ts';
import { type ParsedTemplate, parseTemplate, renderMessages } from '../../../shared/prompt-template.ts';
import { scanTags } from '../../../shared/prompt-template-tags.ts';
import type { TemplateVariable } from '../../../shared/prompt-template-variables.ts';
import type { Draft } from '../../stores/playground-drafts.ts';
import type { TemplateMistake } from './editor/template-editor.tsx';
import { fileValuesOf, isFileField, readFileValues, sentFormOf, type UsedFile } from '../../drafts/file-values.ts';
import { type KnownFiles, useFiles } from '../../queries/files.ts';
import { readFields, readReplacements, unfilledFields, type VariableField } from '../../drafts/variable-model.ts';

/** A draft's template: its fields, its mistakes, and the prompt that a run would send. */
export interface TemplateState {
  fields: readonly VariableField[];
  replacements: Record<string, unknown>;
  unfilled: readonly VariableField[];
  mistakes: readonly (TemplateMistake & { line: number; column: number })[];
  /** Expressions that print "[object Object]", without their braces. */
  printedObjects: readonly string[];
  /** Without the system message. Null when the template has mistakes or can't be rendered. */
  messages: readonly Message[] | null;
  /** The files in the messages, as far as their details are read. */
  files: readonly UsedFile[];
  /** A file field that a rendering needs filled; null when every `{{media}}` has a file. */
  missingFile: VariableField | null;
  /** Why a template without mistakes can't be rendered; null otherwise. */
  renderProblem: string | null;
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let count = 1; count < line; count += 1) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}

/** Mistakes cover the whole tag: a single underlined brace is easily missed. */
export function readMistakes({ text, problems }: ParsedTemplate): TemplateState['mistakes'] {
  if (problems.length === 0) return [];
  const tags = scanTags(text);
  return problems.map(({ issue, line, column }) => {
    const offset = offsetOf(text, line, column);
    const tag = tags.find(({ start, end }) => start <= offset && offset < end);
    return { message: issue, line, column, start: tag?.start ?? offset, end: tag?.end ?? offset + 1 };
  });
}

/** What the preview shows while a file isn't chosen, or its details aren't read. */
const unknownFile: FilePart = { type: 'file', fileId: '', mediaType: '', name: 'No file', bytes: 0 };

/** The name of a PDF says that its text or its pages are sent. */
const formNotes: Readonly<Record<FileForm, string>> = { file: '', text: ', as text', pages: ', as page images' };

/** What a run sends for the value; null if it has no file. */
function filePartsOf(value: unknown, files: KnownFiles): readonly FilePart[] | null {
  const values = readFileValues(JSON.stringify(value) ?? '') ?? [];
  if (values.length === 0) return null;
  return values.map(({ fileId, as = 'file' }) => {
    const { mediaType, name, bytes } = files[fileId] ?? { mediaType: '', name: 'File', bytes: 0 };
    return { type: 'file', fileId, mediaType, name: name + formNotes[as], bytes };
  });
}

/** The files that a rendering took, in their order. */
function usedFiles(values: readonly unknown[], known: KnownFiles): UsedFile[] {
  return values.flatMap((value) => {
    return (readFileValues(JSON.stringify(value) ?? '') ?? []).flatMap((one) => {
      const file = known[one.fileId];
      return file ? [{ file, ...sentFormOf(one) }] : [];
    });
  });
}

function render(template: ParsedTemplate, replacements: Record<string, unknown>, files: KnownFiles) {
  const failed = { messages: null, unfilled: [], objects: [], values: [], isFileMissing: false };
  if (template.problems.length > 0) return { ...failed, problem: null };
  let isFileMissing = false;
  const values: unknown[] = [];
  const filesOf = (value: unknown): readonly FilePart[] | null => {
    if (value !== undefined && value !== null && value !== '') {
      values.push(value);
      return filePartsOf(value, files);
    }
    isFileMissing = true;
    return [unknownFile];
  };
  try {
    const rendered = renderMessages(template, replacements, { filesOf });
    return { ...rendered, values, isFileMissing, problem: null };
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    return { ...failed, problem: cause.message };
  }
}

/** The state of a template with the texts of its fields. */
export function readTemplate(
  template: ParsedTemplate,
  variables: readonly TemplateVariable[],
  draft: Pick<Draft, 'values' | 'jsonNames'>,
  files: KnownFiles = {},
): TemplateState {
  const fields = readFields(variables, draft);
  const replacements = readReplacements(fields);
  const { messages, unfilled, objects, values, isFileMissing, problem } = render(template, replacements, files);
  const mistakes = readMistakes(template);
  const missingFile = isFileMissing ? (fields.find((field) => isFileField(field) && !field.isFilled) ?? null) : null;
  return {
    fields,
    replacements,
    unfilled:
      mistakes.length > 0
        ? fields.filter(({ isFilled, kind }) => !isFilled && kind !== 'condition')
        : [...unfilledFields(fields, unfilled), ...(missingFile ? [missingFile] : [])],
    mistakes,
    printedObjects: [...new Set([...template.objectTags.map(({ written }) => written), ...objects])],
    messages,
    files: usedFiles(values, files),
    missingFile,
    renderProblem: problem,
  };
}

const noVariables: readonly TemplateVariable[] = [];

/**
 * The state of the draft's template. While a tag is half typed the template doesn't parse. Its fields stay those of the last template
 * that did, so that nothing jumps while a person types.
 */
export function useTemplateState(draft: Draft): TemplateState {
  const { id, promptText, values, jsonNames } = draft;
  const template = useMemo(() => parseTemplate(promptText), [promptText]);
  const [lastParsed, setLastParsed] = useState({ id, variables: noVariables });
  const isParsed = template.problems.length === 0;
  const earlier = lastParsed.id === id ? lastParsed.variables : noVariables;
  const variables = isParsed ? template.variables : earlier;
  if (isParsed && (lastParsed.id !== id || lastParsed.variables !== variables)) setLastParsed({ id, variables });
  const ids = useMemo(
    () => fileValuesOf(readFields(variables, { values, jsonNames })).map(({ fileId }) => fileId),
    [variables, values, jsonNames],
  );
  const files = useFiles(ids);
  return useMemo(
    () => readTemplate(template, variables, { values, jsonNames }, files),
    [template, variables, values, jsonNames, files],
  );
}
