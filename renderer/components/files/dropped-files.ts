/** A file and its path below what was dropped. */
export interface DroppedFile {
  readonly file: File;
  readonly name: string;
}

/** Limit for one dropped folder. */
const maxFiles = 10_000;

/** The name of a file includes its dropped folders: a folder often has many files of one name. */
function filesOf(entry: FileSystemFileEntry): Promise<DroppedFile[]> {
  return new Promise((resolve) =>
    entry.file(
      (file) => resolve([{ file, name: entry.fullPath.replace(/^\//, '') }]),
      () => resolve([]),
    ),
  );
}

/** The entries of a folder. A browser returns them in parts. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (part.length === 0 || all.length > maxFiles) return all;
    all.push(...part);
  }
}

/** Every file below the dropped entries, without hidden ones such as `.DS_Store`. */
async function collect(entry: FileSystemEntry): Promise<DroppedFile[]> {
  if (entry.name.startsWith('.')) return [];
  if (entry.isFile) return filesOf(entry as FileSystemFileEntry);
  const files: DroppedFile[] = [];
  for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
    if (files.length < maxFiles) files.push(...(await collect(inner)));
  }
  return files;
}

/** Dropped files, with those in dropped folders. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<DroppedFile[]> {
  // Read before the first await: afterwards the list is empty.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return [...files].map((file) => ({ file, name: file.name }));
  return (await Promise.all(entries.map(collect))).flat();
}
