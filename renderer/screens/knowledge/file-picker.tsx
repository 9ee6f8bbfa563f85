import type { RefObject } from 'react';
import { showToast } from '../../stores/toasts.ts';
import type { ChosenFile } from '../../stores/knowledge.ts';
import { acceptedFiles } from './source-words.ts';

interface FilePickerProps {
  picker: RefObject<HTMLInputElement | null>;
  onFiles: (files: readonly ChosenFile[]) => void;
}

/** The unseen field that takes files. */
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

/** For a folder that was dropped and has no file. */
export function tellNothingAdded(): void {
  showToast({ tone: 'neutral', text: 'Nothing added. The folder has no files.' });
}
