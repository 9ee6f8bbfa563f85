import { z } from 'zod';
import { type FileForm, fileForms, fileId, type StoredFile } from '../../shared/contract/files.ts';
import type { VariableKind } from '../../shared/prompt-template-variables.ts';

/** A file as a variable of a draft holds it and a run sends it. */
const fileValue = z.strictObject({ fileId, as: z.enum(fileForms).optional() });
export type FileValue = z.infer<typeof fileValue>;

/** A file that a prompt sends, and what it is sent as. */
export interface UsedFile {
  readonly file: StoredFile;
  readonly form: FileForm;
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
  return JSON.stringify(kind === 'file' ? files[0] : files, null, 2);
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
