import { FileText, FolderOpen } from 'lucide-react';
import { useId, useRef, type RefObject } from 'react';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { TextField } from '../../../components/text-field.tsx';
import { importedFiles } from './read-files.ts';
import type { SourceDraft } from './transfer-queries.ts';

function FileInput(props: {
  label: string;
  input: RefObject<HTMLInputElement | null>;
  isFolder: boolean;
  onFiles: (files: File[]) => void;
}) {
  const { label, input, isFolder, onFiles } = props;
  return (
    <input
      ref={input}
      type="file"
      multiple
      hidden
      aria-label={label}
      {...(isFolder && { webkitdirectory: '' })}
      onChange={(event) => {
        onFiles([...(event.target.files ?? [])]);
        // The same files may be chosen again after they were changed.
        event.target.value = '';
      }}
    />
  );
}

/** Where prompts come from: files, a folder, or pasted text. */
export function SourceFields({ draft, onChange }: { draft: SourceDraft; onChange: (draft: SourceDraft) => void }) {
  const [files, folder] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  const pastedId = useId();
  const take = (chosen: File[]): void => onChange({ ...draft, files: chosen });
  return (
    <div className="prompts__form">
      <p className="small secondary">
        Supported: dotprompt, promptfoo with the files it refers to, Langfuse, OpenAI JSONL, CSV and plain text.
      </p>
      <div className="row">
        <FileInput label="Files" input={files} isFolder={false} onFiles={take} />
        <FileInput label="Folder" input={folder} isFolder onFiles={take} />
        <Button icon={FileText} onClick={() => files.current?.click()}>
          Choose files
        </Button>
        <Button icon={FolderOpen} onClick={() => folder.current?.click()}>
          Choose folder
        </Button>
        <span className="small secondary" role="status">
          {draft.files.length > 0 && formatPlural(importedFiles(draft.files).length, 'file')}
        </span>
      </div>
      <div className="labelled">
        <label htmlFor={pastedId}>Or paste text</label>
        <textarea
          id={pastedId}
          className="field mono import-pasted"
          rows={8}
          spellCheck={false}
          value={draft.pasted}
          onChange={(event) => onChange({ ...draft, pasted: event.target.value })}
        />
      </div>
      <TextField
        label="Import into"
        maxLength={500}
        placeholder="No folder"
        hint="Subfolders are kept"
        value={draft.folder}
        onValueChange={(next) => onChange({ ...draft, folder: next })}
      />
    </div>
  );
}
