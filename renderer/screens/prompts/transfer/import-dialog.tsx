import { FileText, FolderOpen } from 'lucide-react';
import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { TextField } from '../../../components/text-field.tsx';
import {
  importedFiles,
  type Preview,
  type SourceDraft,
  tooMuch,
  useImportPrompts,
  usePreviewImport,
  usePreviewOpenedFiles,
  useTransfer,
} from './transfer.ts';
import type { PreviewedSource, TransferEntry } from '../../../../shared/contract/prompt-transfer.ts';
import { Checkbox } from '../../../components/choices.tsx';
import { Badge } from '../../../components/badges.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { useCapability } from '../../../host/host-context.tsx';
import { promptAddress } from '../../../shell/addresses.ts';
import { useIsOpen } from '../../../shell/navigate-from-here.ts';
import { showToast } from '../../../stores/toasts.ts';

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
        // The same files may be selected again after a change.
        event.target.value = '';
      }}
    />
  );
}

/** The sources of an import: files, a folder, or pasted text. */
function SourceFields({ draft, onChange }: { draft: SourceDraft; onChange: (draft: SourceDraft) => void }) {
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

const formats = {
  dotprompt: 'dotprompt',
  promptfoo: 'promptfoo',
  langfuse: 'Langfuse',
  'openai-jsonl': 'OpenAI JSONL',
  csv: 'CSV',
  text: 'Plain text',
} as const;

const tones = { taken: 'neutral', translated: 'accent', refused: 'caution', warning: 'caution' } as const;
const labels = { taken: 'Used', translated: 'Converted', refused: 'Skipped', warning: 'Warning' } as const;

/** The entries of the report, skipped ones first, each once. A prompt that is imported unchanged has none. */
function notableEntries(entries: readonly TransferEntry[]): TransferEntry[] {
  const notable = (['refused', 'warning', 'translated'] as const).flatMap((outcome) =>
    entries.filter((entry) => entry.outcome === outcome),
  );
  return [...new Map(notable.map((entry) => [JSON.stringify(entry), entry])).values()];
}

function Entries({ shown }: { shown: readonly TransferEntry[] }) {
  if (shown.length === 0) return null;
  return (
    <ul className="import-report__entries small">
      {shown.map(({ outcome, field, message, line }, index) => (
        <li key={index} className="row">
          <Badge tone={tones[outcome]}>{labels[outcome]}</Badge>
          <span>
            <span className="mono">{field}</span>
            {line !== null && <span className="tertiary"> line {line}</span>}: {message}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface ImportReportProps {
  sources: readonly PreviewedSource[];
  chosen: ReadonlySet<number>;
  onChosenChange: (chosen: ReadonlySet<number>) => void;
}

/** The prompts of an import by file; each can be deselected. */
function ImportReport({ sources, chosen, onChosenChange }: ImportReportProps) {
  const toggle = (index: number, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(index);
    else next.delete(index);
    onChosenChange(next);
  };
  return (
    <div className="import-report scroll" tabIndex={0} role="region" aria-label="Import preview">
      {sources.map((source, position) => (
        <section key={position} className="import-report__source">
          <h3 className="row">
            <span className="mono truncate">{source.name}</span>
            {source.format !== null && <Badge isOutlined>{formats[source.format]}</Badge>}
          </h3>
          <Entries shown={source.prompts.length === 0 ? source.entries : notableEntries(source.entries)} />
          {source.prompts.map(({ index, prompt, entries }) => (
            <div key={index} className="import-report__prompt">
              <Checkbox
                label={prompt.name}
                isChecked={chosen.has(index)}
                onCheckedChange={(isChosen) => toggle(index, isChosen)}
              />
              <p className="small secondary truncate">{prompt.promptText.slice(0, 200)}</p>
              <Entries shown={notableEntries(entries)} />
            </div>
          ))}
        </section>
      ))}
    </div>
  );
}

function Problem({ message }: { message: string | null }) {
  return (
    message && (
      <p className="small negative" role="alert">
        {message}
      </p>
    )
  );
}

/** Files that were opened with Touchstone, for example from a file manager, are previewed at once. */
function useOpenedFiles(onPreview: (preview: Preview) => void) {
  const canOpen = useCapability('prompt-files');
  const requests = useTransfer(({ importRequests }) => importRequests);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const { mutate, error, reset } = usePreviewOpenedFiles(({ preview, problems: found }) => {
    // Two requests can follow each other. The second finds nothing, and what the first found stays.
    if (preview === null && found.length === 0) return;
    setProblems(found);
    if (preview) onPreview(preview);
  });
  useEffect(() => {
    if (canOpen) mutate();
  }, [canOpen, mutate, requests]);
  const problem = error ? describeError(error).message : problems.join(' ');
  return {
    problem: problem || null,
    reset: () => {
      reset();
      setProblems([]);
    },
  };
}

/** Opens the first prompt. In a dialog that was closed meanwhile, a toast offers it. */
function useImportAndOpen(onClose: () => void) {
  const [, navigate] = useLocation();
  const isOpen = useIsOpen();
  return useImportPrompts((prompts) => {
    const [first] = prompts;
    const text = `Imported ${formatPlural(prompts.length, 'prompt')}.`;
    const open = (): void => {
      if (first) navigate(promptAddress(first.id));
    };
    if (!isOpen()) return showToast({ tone: 'neutral', text, action: { label: 'Open', run: open } });
    onClose();
    open();
    showToast({ tone: 'neutral', text });
  });
}

/** First the sources, then a preview of their prompts. Nothing is saved before the person has seen it. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState<SourceDraft>({ files: [], pasted: '', folder: '' });
  const [preview, setPreview] = useState<Preview | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const show = (found: Preview): void => {
    setPreview(found);
    setChosen(new Set(found.sources.flatMap(({ prompts }) => prompts.map(({ index }) => index))));
  };
  const previewImport = usePreviewImport(show);
  const opened = useOpenedFiles(show);
  const bring = useImportAndOpen(onClose);
  const problem = tooMuch(draft.files) ?? (previewImport.error && describeError(previewImport.error).message);
  const isEmpty = draft.files.length === 0 && draft.pasted.trim() === '';
  const keep = (): void => {
    if (preview === null) return;
    bring.mutate({ ...preview.body, chosen: [...chosen].toSorted((one, other) => one - other) });
  };
  const back = (): void => {
    bring.reset();
    opened.reset();
    setPreview(null);
  };
  const footer = preview ? (
    <>
      <Button onClick={back}>Back</Button>
      <Button variant="primary" isBusy={bring.isPending} aria-disabled={chosen.size === 0 || undefined} onClick={keep}>
        Import {formatPlural(chosen.size, 'prompt')}
      </Button>
    </>
  ) : (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        variant="primary"
        isBusy={previewImport.isPending}
        aria-disabled={isEmpty || tooMuch(draft.files) !== null || undefined}
        onClick={() => previewImport.mutate(draft)}
      >
        Preview import
      </Button>
    </>
  );
  return (
    <Dialog title="Import prompts" isOpen isWide onClose={onClose} footer={footer}>
      {preview ? (
        <ImportReport sources={preview.sources} chosen={chosen} onChosenChange={setChosen} />
      ) : (
        <SourceFields draft={draft} onChange={setDraft} />
      )}
      <Problem message={opened.problem} />
      <Problem message={preview ? bring.error && describeError(bring.error).message : problem} />
    </Dialog>
  );
}
