import { type DragEvent, type ReactNode, type RefObject, useRef, useState } from 'react';
import { FileDown } from 'lucide-react';
import { droppedFiles } from '../../components/files/dropped-files.ts';
import { Icon } from '../../components/icon.tsx';
import type { ChosenFile } from '../../stores/knowledge.ts';
import { showToast } from '../../stores/toasts.ts';
import { acceptedFiles } from './source-words.ts';

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
