import { FileUp } from 'lucide-react';
import { type DragEvent, useRef, useState } from 'react';
import { Button } from '../button.tsx';
import { classNames } from '../class-names.ts';
import { type DroppedFile, droppedFiles } from './dropped-files.ts';
import './files.css';

interface DropZoneProps {
  /** The accessible name of the file picker. */
  label: string;
  isMultiple?: boolean;
  /** What was chosen, or where to drop it. */
  text: string;
  /** At least one file. */
  onFiles: (files: readonly DroppedFile[]) => void;
}

/** Files by drop, with folders, or by picker. */
export function DropZone({ label, isMultiple = false, text, onFiles }: DropZoneProps) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const give = (files: readonly DroppedFile[]): void => {
    if (files.length > 0) onFiles(files);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void droppedFiles(event.dataTransfer).then(give);
  };
  return (
    <div
      className={classNames('drop-zone', isOver && 'is-over')}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Button icon={FileUp} onClick={() => picker.current?.click()}>
        {isMultiple ? 'Choose files' : 'Choose file'}
      </Button>
      <span className="small secondary" role="status">
        {text}
      </span>
      <input
        ref={picker}
        type="file"
        multiple={isMultiple}
        hidden
        aria-label={label}
        onChange={(event) => {
          give([...(event.target.files ?? [])].map((file) => ({ file, name: file.name })));
          event.target.value = '';
        }}
      />
    </div>
  );
}
