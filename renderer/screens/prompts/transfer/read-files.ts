import {
  mostImportedBytes,
  mostImportedFiles,
  type ImportSource,
} from '../../../../shared/contract/prompt-transfer.ts';

/** Files that are hidden, as folders of git and of systems have them, are not prompts. */
const isHidden = (path: string) => path.split('/').some((part) => part.startsWith('.'));

/** Path of a file below the folder that was chosen, and its name alone otherwise. */
function pathOf({ name, webkitRelativePath }: File): string {
  // Absent or empty for files that were chosen one by one.
  return webkitRelativePath ? webkitRelativePath.split('/').slice(1).join('/') : name;
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

/** Why these files cannot be imported together; null when they can. Asked before any of them is read. */
export function tooMuch(files: readonly File[]): string | null {
  if (files.length > mostImportedFiles)
    return `These are ${files.length} files; at most ${mostImportedFiles} come at once.`;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const largest = files.toSorted((one, other) => other.size - one.size)[0];
  if (bytes <= mostImportedBytes || largest === undefined) return null;
  const megabytes = (bytes / 1_000_000).toFixed(1);
  return `The files have ${megabytes} MB together, the largest is ${largest.name}; at most ${mostImportedBytes / 1_000_000} MB come at once.`;
}

/** Reads chosen files. Rejects when one cannot be read. */
export async function readFiles(files: readonly File[]): Promise<ImportSource[]> {
  const shown = files.filter((file) => !isHidden(pathOf(file)));
  return Promise.all(shown.map(async (file) => ({ name: pathOf(file), base64: await base64Of(file) })));
}
