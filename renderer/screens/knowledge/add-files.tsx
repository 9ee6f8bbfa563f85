import { type DragEvent, type ReactNode, type RefObject, useRef, useState } from 'react';
import { FileDown } from 'lucide-react';
import { Icon } from '../../components/icon.tsx';
import type { ChosenFile } from '../../stores/knowledge.ts';
import { showToast } from '../../stores/toasts.ts';
import { acceptedFiles } from './source-words.ts';

/** Limit for one dropped folder. */
const maxFiles = 10_000;

/** The name of a file includes its dropped folders: a folder often has many files of one name. */
function filesOf(entry: FileSystemFileEntry): Promise<ChosenFile[]> {
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
async function collect(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.name.startsWith('.')) return [];
  if (entry.isFile) return filesOf(entry as FileSystemFileEntry);
  const files: ChosenFile[] = [];
  for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) {
    if (files.length < maxFiles) files.push(...(await collect(inner)));
  }
  return files;
}

async function droppedFiles({ items, files }: DataTransfer): Promise<ChosenFile[]> {
  // Read before the first await: afterwards the list is empty.
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) return [...files].map((file) => ({ file, name: file.name }));
  return (await Promise.all(entries.map(collect))).flat();
}

interface DropZoneProps {
  /** Shown while files are dragged over it. */
  label: string;
  /** Also called with an empty list: a folder may be empty. */
  onFiles: (files: readonly ChosenFile[]) => void;
  children: ReactNode;
}

/** Accepts files and folders that are dropped anywhere on it. */
export function DropZone({ label, onFiles, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  // Every child fires its own enter and leave events.
  const depth = useRef(0);
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files');
  const end = (): void => {
    depth.current = 0;
    setOver(false);
  };
  return (
    <div
      className="knowledge__zone"
      onDragEnter={(event) => {
        if (!hasFiles(event)) return;
        depth.current += 1;
        setOver(true);
      }}
      onDragLeave={() => {
        depth.current -= 1;
        if (depth.current <= 0) end();
      }}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        end();
        void droppedFiles(event.dataTransfer).then(onFiles);
      }}
    >
      {children}
      {isOver && (
        <div className="knowledge__drop" role="status">
          <Icon icon={FileDown} />
          {label}
        </div>
      )}
    </div>
  );
}

interface FilePickerProps {
  picker: RefObject<HTMLInputElement | null>;
  onFiles: (files: readonly ChosenFile[]) => void;
}

/** The hidden file input. */
export function FilePicker({ picker, onFiles }: FilePickerProps) {
  return (
    <input
      ref={picker}
      type="file"
      multiple
      hidden
      accept={acceptedFiles}
      aria-label="Files to add"
      onChange={(event) => {
        onFiles([...(event.target.files ?? [])].map((file) => ({ file, name: file.name })));
        event.target.value = '';
      }}
    />
  );
}

/** The toast for a dropped folder without files. */
export function tellNothingAdded(): void {
  showToast({ tone: 'neutral', text: 'Nothing added. The folder has no files.' });
}
