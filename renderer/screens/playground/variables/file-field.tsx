import { Plus, X } from 'lucide-react';
import { type DragEvent, type ReactNode, useId, useRef, useState } from 'react';
import type { StoredFile } from '../../../../shared/contract/files.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Progress } from '../../../components/badges.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatBytes, formatWhole } from '../../../components/format.ts';
import {
  type FileFieldKind,
  type FileValue,
  readFileValues,
  type SentForm,
  sentFormOf,
  withForm,
  writeFileValues,
} from '../../../drafts/file-values.ts';
import { fieldText, type VariableField } from '../../../drafts/variable-model.ts';
import { useFiles } from '../../../queries/files.ts';
import { useDrafts } from '../../../stores/playground-drafts.ts';
import { showToast } from '../../../stores/toasts.ts';
import { useFieldRef } from '../session/playground-session.tsx';
import { MissingFile, rememberCleaned, StoredFileView } from './stored-file.tsx';
import { SourcePicker } from './source-picker.tsx';
import { type FileUpload, type FileUploads, useFileUploads } from './use-file-uploads.ts';

const acceptedTypes =
  'image/png,image/jpeg,image/webp,image/gif,application/pdf,audio/*,text/*,application/json,.md,.csv,.txt,.json';

/** Changes the files of a field. The draft may have changed since an upload began. */
function changeFiles(
  draftId: string,
  { name, kind }: { name: string; kind: FileFieldKind },
  change: (files: readonly FileValue[]) => readonly FileValue[],
): void {
  const { drafts, change: changeDraft } = useDrafts.getState();
  const values = drafts.find(({ id }) => id === draftId)?.values;
  if (!values) return;
  const text = writeFileValues(change(readFileValues(fieldText(values, name)) ?? []), kind);
  changeDraft(draftId, { values: { ...values, [name]: text } });
}

function Upload({ upload, uploads }: { upload: FileUpload; uploads: FileUploads }) {
  const { id, name, bytes, fraction, problem, smaller } = upload;
  return (
    <div className="file-field__upload" role="group" aria-label={name}>
      <div className="row">
        <span className="small truncate grow">{name}</span>
        <span className="caption tertiary nowrap numbers">{formatBytes(bytes)}</span>
        <IconButton
          icon={X}
          size="small"
          label={problem === null ? `Cancel upload of ${name}` : `Dismiss ${name}`}
          onClick={() => uploads.dismiss(id)}
        />
      </div>
      {problem === null ? (
        <Progress label={`Uploading ${name}`} fraction={fraction} />
      ) : (
        <p className="caption negative" role="alert">
          {problem}
        </p>
      )}
      {smaller && (
        <Button size="small" onClick={() => uploads.send(smaller.file)}>
          Use smaller version ({formatWhole(smaller.width)} × {formatWhole(smaller.height)} px,{' '}
          {formatBytes(smaller.file.size)})
        </Button>
      )}
    </div>
  );
}

export interface FileFieldProps {
  draftId: string;
  field: VariableField & { kind: FileFieldKind };
  text: string;
  isUnfilled: boolean;
  model: Model | null;
}

/** The files of a field, and how new ones come into it. */
function useFieldFiles({ draftId, field: { name, kind }, text }: FileFieldProps) {
  /** The position of the file that the next one replaces; null adds one. */
  const replaced = useRef<number | null>(null);
  const values = readFileValues(text) ?? [];
  const known = useFiles(values.map(({ fileId }) => fileId));
  const change = (next: (files: readonly FileValue[]) => readonly FileValue[]): void =>
    changeFiles(draftId, { name, kind }, next);
  const take = (file: StoredFile): void => {
    rememberCleaned(file);
    const value = { fileId: file.id };
    const index = replaced.current;
    replaced.current = null;
    change((files) => {
      if (kind === 'file') return [value];
      return index !== null && index < files.length ? files.with(index, value) : [...files, value];
    });
  };
  const uploads = useFileUploads(take);
  return {
    uploads,
    take,
    stored: values.map((value) => ({ file: known[value.fileId], sent: sentFormOf(value) })),
    send(files: readonly File[]): void {
      const [first] = files;
      if (!first) return;
      if (kind === 'files') return files.forEach((file) => uploads.send(file));
      if (files.length > 1) showToast({ tone: 'neutral', text: `${name} takes one file. Used ${first.name}.` });
      uploads.uploads.forEach(({ id }) => uploads.dismiss(id));
      uploads.send(first);
    },
    /** The next file replaces the one at this position; null adds it. */
    expect(position: number | null): void {
      replaced.current = position;
    },
    setForm: (position: number, form: SentForm): void =>
      change((files) => files.map((file, index) => (index === position ? withForm(file, form) : file))),
    remove: (position: number): void => change((files) => files.filter((_, index) => index !== position)),
  };
}

interface DropTargetProps {
  isUnfilled: boolean;
  onFiles: (files: readonly File[]) => void;
  children: ReactNode;
}

/** Takes files that are dropped on it, and those that are pasted while the focus is inside. */
function DropTarget({ isUnfilled, onFiles, children }: DropTargetProps) {
  const [isOver, setOver] = useState(false);
  const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes('Files');
  return (
    <div
      className={classNames('field field--area file-field', isUnfilled && 'is-unfilled', isOver && 'is-over')}
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
      onPaste={(event) => {
        const files = [...event.clipboardData.files];
        if (files.length === 0) return;
        event.preventDefault();
        onFiles(files);
      }}
    >
      {children}
    </div>
  );
}

type FieldFiles = ReturnType<typeof useFieldFiles>;

interface StoredFilesProps {
  files: FieldFiles;
  model: Model | null;
  onReplace: (position: number) => void;
}

function StoredFiles({ files, model, onReplace }: StoredFilesProps) {
  return files.stored.map(({ file, sent }, index) => {
    if (file === null) return <MissingFile key={index} onRemove={() => files.remove(index)} />;
    if (file === undefined)
      return (
        <p key={index} className="caption tertiary">
          Loading file
        </p>
      );
    return (
      <StoredFileView
        key={index}
        file={file}
        sent={sent}
        model={model}
        onForm={(next) => files.setForm(index, next)}
        onReplace={() => onReplace(index)}
        onRemove={() => files.remove(index)}
        onSmaller={(smaller) => {
          files.expect(index);
          files.send([smaller]);
        }}
      />
    );
  });
}

/** A variable that holds files: dropped, pasted or chosen. */
export function FileField(props: FileFieldProps) {
  const { field, isUnfilled, model } = props;
  const { name, kind } = field;
  const id = useId();
  const fieldRef = useFieldRef();
  const picker = useRef<HTMLInputElement>(null);
  const files = useFieldFiles(props);
  const choose = (position: number | null): void => {
    files.expect(position);
    picker.current?.click();
  };
  const { stored, uploads } = files;
  const hasRoom = kind === 'files' || (stored.length === 0 && uploads.uploads.length === 0);
  return (
    <div className="variable" role="group" aria-labelledby={id}>
      <span id={id} className="variable__name mono truncate" title={name}>
        {name}
      </span>
      <div className="variable__value">
        <DropTarget isUnfilled={isUnfilled} onFiles={files.send}>
          <StoredFiles files={files} model={model} onReplace={choose} />
          {uploads.uploads.map((upload) => (
            <Upload key={upload.id} upload={upload} uploads={uploads} />
          ))}
          {hasRoom && (
            <div className="file-field__add">
              <Button
                ref={fieldRef(`variable/${name}`)}
                size="small"
                icon={Plus}
                aria-describedby={`${id}-hint`}
                onClick={() => choose(null)}
              >
                {stored.length === 0 ? 'Choose file' : 'Add file'}
              </Button>
              <SourcePicker onFile={files.take} />
              <span id={`${id}-hint`} className="caption tertiary">
                or drop or paste it here. Location data is removed from images.
              </span>
            </div>
          )}
          <input
            ref={picker}
            type="file"
            hidden
            multiple={kind === 'files'}
            accept={acceptedTypes}
            aria-label={`File for ${name}`}
            onChange={(event) => {
              files.send([...(event.target.files ?? [])]);
              event.target.value = '';
            }}
          />
        </DropTarget>
      </div>
    </div>
  );
}
