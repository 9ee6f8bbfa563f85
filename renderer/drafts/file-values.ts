import { z } from 'zod';
import {
  type FileForm,
  fileForms,
  fileId,
  pagePixels,
  type PageResolution,
  pageResolutions,
  type StoredFile,
} from '../../shared/contract/files.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { type FileKind, estimateFileTokens, estimatePageTokens, estimateTextTokens } from '../../shared/file-kinds.ts';
import { choosePages } from '../../shared/page-range.ts';
import type { VariableKind } from '../../shared/prompt-template-variables.ts';

/** A file as a variable of a draft holds it and a run sends it. */
const fileValue = z.strictObject({
  fileId,
  as: z.enum(fileForms).optional(),
  pages: z.string().optional(),
  resolution: z.enum(pageResolutions).optional(),
});
export type FileValue = z.infer<typeof fileValue>;

/** What a file is sent as. Pages and resolution only count for a PDF that is sent as pages. */
export interface SentForm {
  readonly form: FileForm;
  /** A range such as `1-3, 7`; empty for all pages. */
  readonly pages: string;
  readonly resolution: PageResolution;
}

/** The kind of file that a model gets, if the form decides it. */
export const sentKinds: Partial<Record<FileForm, FileKind>> = { text: 'text', pages: 'image' };

export function sentFormOf({ as: form = 'file', pages = '', resolution = 'medium' }: FileValue): SentForm {
  return { form, pages, resolution };
}

/** The value of the same file in another form. */
export function withForm({ fileId: id }: FileValue, { form, pages, resolution }: SentForm): FileValue {
  if (form !== 'pages') return form === 'file' ? { fileId: id } : { fileId: id, as: form };
  return { fileId: id, as: form, ...(pages.trim() !== '' && { pages }), resolution };
}

/** A file that a prompt sends, and what it is sent as. */
export interface UsedFile extends SentForm {
  readonly file: StoredFile;
}

/** About how many tokens a file has in the form in which it is sent. */
export function estimateUsedTokens({ file, form, pages, resolution }: UsedFile, aiSystem: AiSystem | null): number {
  if (form === 'text') return estimateTextTokens(file);
  if (form === 'file') return estimateFileTokens(file, aiSystem);
  const chosen = choosePages(pages, file.pages ?? 1);
  return 'pages' in chosen ? estimatePageTokens(chosen.pages.length, pagePixels[resolution], aiSystem) : 0;
}

const fieldValue = z.union([fileValue.transform((file) => [file]), z.array(fileValue)]);

/** The files in the text of a file field; null for a text that isn't files. */
export function readFileValues(text: string): FileValue[] | null {
  if (text.trim() === '') return [];
  try {
    return fieldValue.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The text of a field with these files, in the format in which a restored run has it. */
export function writeFileValues(files: readonly FileValue[], kind: FileFieldKind): string {
  if (files.length === 0) return '';
  // The pages that a restored run has sent are several files of one variable.
  return JSON.stringify(kind === 'file' && files.length === 1 ? files[0] : files, null, 2);
}

export type FileFieldKind = Extract<VariableKind, 'file' | 'files'>;

export function isFileField<Field extends { readonly kind: VariableKind }>(
  field: Field,
): field is Field & { kind: FileFieldKind } {
  return field.kind === 'file' || field.kind === 'files';
}

/** The files of all fields. */
export function fileValuesOf(fields: readonly { readonly kind: VariableKind; readonly text: string }[]): FileValue[] {
  return fields.filter(isFileField).flatMap(({ text }) => readFileValues(text) ?? []);
}
