import { Plus, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { StoredFile } from '../../../../../shared/contract/files.ts';
import { fileIdOf } from '../../../../../shared/dataset-values.ts';
import { Button } from '../../../../components/button.tsx';
import { isMac } from '../../../../components/key-caps.tsx';
import { describeFile, FileThumbnail } from '../../../../components/files/file-summary.tsx';
import { useFiles } from '../../../../queries/files.ts';
import { readTyped, editText } from './cell-values.ts';
import type { EditedColumn } from './table-document.ts';

/** Where the focus goes after an edit. */
export type AfterEdit = 'down' | 'up' | 'right' | 'left' | 'stay';

const maxHeight = 240;

export interface CellEditorProps {
  label: string;
  column: EditedColumn;
  value: unknown;
  /** Replaces the value, if a person began to type. */
  typed: string | null;
  onCommit: (value: unknown, after: AfterEdit, isForSelection: boolean) => void;
  onCancel: () => void;
}

/** The keys of Save, which an open cell must not keep from the window: the browser would save the page. */
function isSave({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 's' && (isMac ? metaKey : ctrlKey) && !altKey && !shiftKey;
}

function afterKey({ key, shiftKey }: KeyboardEvent): AfterEdit | null {
  if (key === 'Enter') return shiftKey ? 'up' : 'down';
  return key === 'Tab' ? (shiftKey ? 'left' : 'right') : null;
}

/** Saves what is typed when the page or the screen is left without leaving the cell first, as a reload and the browser's Back do. */
function useLeaving(save: () => void, { isChanged }: { isChanged: boolean }): void {
  const latest = useRef({ save, isChanged });
  useLayoutEffect(() => {
    latest.current = { save, isChanged };
  });
  useLayoutEffect(() => {
    const onLeave = () => latest.current.save();
    // Before the edits are written, which is on the same event.
    window.addEventListener('pagehide', onLeave, { capture: true });
    return () => {
      window.removeEventListener('pagehide', onLeave, { capture: true });
      if (latest.current.isChanged) latest.current.save();
    };
  }, []);
}

/** What is typed, until it is saved or cancelled, which happens once. */
function useTypedValue({ column, value, typed, onCommit }: Omit<CellEditorProps, 'label' | 'onCancel'>) {
  const [initial] = useState(() => typed ?? editText(value, column.type, { isIndented: true }));
  const [text, setText] = useState(initial);
  const [problem, setProblem] = useState<string | null>(null);
  const isClosed = useRef(false);
  /** Returns false, and says why, if the column can't have what was typed. */
  const commit = (after: AfterEdit, isForSelection = false): boolean => {
    if (isClosed.current) return true;
    if (text === initial && typed === null && !isForSelection) {
      isClosed.current = true;
      onCommit(value, after, false);
      return true;
    }
    const read = readTyped(text, column.type);
    if ('problem' in read) {
      setProblem(read.problem);
      return false;
    }
    isClosed.current = true;
    onCommit(read.value, after, isForSelection);
    return true;
  };
  const close = (): void => {
    isClosed.current = true;
  };
  useLeaving(() => commit('stay'), { isChanged: text !== initial });
  return { text, setText, problem, setProblem, commit, close };
}

/** Focuses a text area at the end of its text, and lets it grow with the text. */
function useTextArea(text: string) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const element = area.current;
    element?.focus();
    element?.setSelectionRange(element.value.length, element.value.length);
  }, []);
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(maxHeight, element.scrollHeight)}px`;
  }, [text]);
  return area;
}

/** A text area over its cell. Enter and Tab save, Alt+Enter adds a line, Esc cancels. */
export function CellEditor({ label, column, value, typed, onCommit, onCancel }: CellEditorProps) {
  const { text, setText, problem, setProblem, commit, close } = useTypedValue({ column, value, typed, onCommit });
  const area = useTextArea(text);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (isSave(event) && commit('stay')) return;
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
    if (isSave(event)) event.preventDefault();
    if (event.key === 'Escape') {
      event.preventDefault();
      close();
      return onCancel();
    }
    const after = afterKey(event);
    if (after === null) return;
    event.preventDefault();
    if (event.key === 'Enter' && event.altKey) {
      const { selectionStart, selectionEnd } = event.currentTarget;
      event.currentTarget.setRangeText('\n', selectionStart, selectionEnd, 'end');
      return setText(event.currentTarget.value);
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) commit('stay', true);
    else commit(after);
  };
  return (
    <div className="data-grid__editor">
      <textarea
        ref={area}
        rows={1}
        spellCheck={false}
        className={column.type === 'json' ? 'mono' : undefined}
        aria-label={label}
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : 'cell-problem'}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setProblem(null);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => commit('stay')}
        onPaste={(event) => event.stopPropagation()}
        onCopy={(event) => event.stopPropagation()}
        onCut={(event) => event.stopPropagation()}
      />
      {problem !== null && (
        <p id="cell-problem" className="caption negative" role="alert">
          {problem}. Press Esc to restore the cell.
        </p>
      )}
    </div>
  );
}

function FileLine({ file }: { file: StoredFile }) {
  return (
    <div className="row">
      <FileThumbnail {...file} />
      <span className="grow file-summary">
        <span className="truncate">{file.name}</span>
        <span className="caption tertiary">{describeFile(file)}</span>
      </span>
    </div>
  );
}

/** The file of a cell, over the cell. */
export function FileCell(props: {
  label: string;
  value: unknown;
  onFiles: (files: readonly File[]) => void;
  onRemove: () => void;
  onClose: () => void;
}) {
  const { label, value, onFiles, onRemove, onClose } = props;
  const picker = useRef<HTMLInputElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const id = fileIdOf(value);
  const file = useFiles(id === null ? [] : [id])[id ?? ''];
  useEffect(() => {
    panel.current?.querySelector('button')?.focus();
  }, []);
  return (
    <div
      ref={panel}
      className="data-grid__editor data-grid__file"
      role="group"
      aria-label={label}
      onKeyDown={(event) => {
        if (!isSave(event)) event.stopPropagation();
        if (event.key === 'Escape') onClose();
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) onClose();
      }}
    >
      {file && <FileLine file={file} />}
      {file === null && <p className="caption negative">This file isn't stored any more. Choose it again.</p>}
      <div className="row">
        <Button size="small" icon={Plus} onClick={() => picker.current?.click()}>
          {id === null ? 'Choose file' : 'Replace'}
        </Button>
        {value !== undefined && value !== null && (
          <Button size="small" icon={X} onClick={onRemove}>
            Remove
          </Button>
        )}
      </div>
      <p className="caption tertiary">Or drop or paste a file on the cell. Several files go to the rows below.</p>
      <input
        ref={picker}
        type="file"
        hidden
        multiple
        aria-label={label}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
    </div>
  );
}
