import { useIsMutating, useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { ChevronRight } from 'lucide-react';
import { useLocation } from 'wouter';
import type {
  Prompt,
  PromptInput,
  PromptVariable,
  PromptVersion,
  PromptVersionInput,
} from '../../../shared/contract/prompts.ts';
import { completeVariables } from '../../../shared/prompt-content.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { formatPlural } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { describeError, LoadingRows, Notice } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import {
  useAddVersion,
  useCreatePrompt,
  usePrompt,
  usePromptOutline,
  usePromptVersion,
} from '../../queries/prompts.ts';
import { useCountDraftRuns } from '../../queries/prompt-details.ts';
import { promptAddress } from '../../shell/addresses.ts';
import { useIsOpen } from '../../shell/navigate-from-here.ts';
import { type Draft, useDrafts } from '../../stores/playground-drafts.ts';
import { showToast } from '../../stores/toasts.ts';
import { VariableFields } from '../../components/variable-fields.tsx';
import { isEdited, readVersion } from '../../drafts/draft-version.ts';

const kinds = [
  { value: 'version', label: 'New version' },
  { value: 'prompt', label: 'New prompt' },
] as const;

const noVariables: readonly PromptVariable[] = [];

interface SavedVersion {
  promptId: string;
  versionId: string;
  name: string;
}

/** Links the draft and its earlier runs to the saved version, and shows a toast with a link to it. */
function useSaved(draft: Draft): (saved: SavedVersion, text: string) => void {
  const [, navigate] = useLocation();
  const countRuns = useCountDraftRuns().mutate;
  return ({ promptId, versionId, name }, text) => {
    const { change, rename, drafts } = useDrafts.getState();
    change(draft.id, { source: { promptId, versionId }, isExample: false });
    // Renamed during the save: it keeps that name.
    if (drafts.find(({ id }) => id === draft.id)?.name === draft.name) rename(draft.id, name);
    countRuns({ promptId, versionId, draftId: draft.id });
    const run = (): void => navigate(promptAddress(promptId, versionId));
    showToast({ tone: 'neutral', text, action: { label: 'Open in library', run } });
  };
}

type SavedPart = { prompt: Prompt; version: PromptVersionInput } | { prompt: null; input: PromptInput };

/** Saves a draft as a new version or as a new prompt. A dialog that is opened during the save waits for it, too. */
function useSave(draft: Draft, onClose: () => void) {
  const create = useCreatePrompt().mutateAsync;
  const addVersion = useAddVersion().mutateAsync;
  const finish = useSaved(draft);
  const isOpen = useIsOpen();
  const mutationKey = ['save-draft', draft.id];
  const { mutate, error } = useMutation({
    mutationKey,
    meta: { isFailureShown: true },
    mutationFn: async (saved: SavedPart): Promise<void> => {
      if (saved.prompt === null) {
        const { id, latestVersionId, name } = await create(saved.input);
        return finish({ promptId: id, versionId: latestVersionId, name }, 'Saved to library.');
      }
      const { prompt, version } = saved;
      const { id, number } = await addVersion({ promptId: prompt.id, ...version });
      const text = `Saved version ${number} of "${prompt.name}".`;
      finish({ promptId: prompt.id, versionId: id, name: draft.name }, text);
    },
    onSuccess: () => {
      if (isOpen()) onClose();
    },
  });
  return { save: mutate, error, isBusy: useIsMutating({ mutationKey }) > 0 };
}

function useSaveForm(draft: Draft, before: PromptVersion | null, onClose: () => void) {
  const promptQuery = usePrompt(before?.promptId ?? null);
  const prompt = promptQuery.data ?? null;
  const outline = usePromptOutline().data;
  const [chosen, setKind] = useState<'version' | 'prompt'>('version');
  const [name, setName] = useState(draft.name);
  const [folder, setFolder] = useState('');
  const [note, setNote] = useState('');
  const { save: send, error, isBusy } = useSave(draft, onClose);
  // A deleted prompt can't have another version.
  const kind = prompt === null ? 'prompt' : chosen;
  const read = readVersion(draft, before);
  // Until a person edits them, variables follow the previous version, which may still be loading.
  const [written, setVariables] = useState<readonly PromptVariable[] | null>(null);
  const variables = written ?? ('problem' in read ? noVariables : completeVariables(read.version));

  const save = (): void => {
    if ('problem' in read || (kind === 'prompt' && name.trim() === '')) return;
    const version = { ...read.version, variables: [...variables], note: note.trim() || null };
    if (kind === 'version' && prompt) send({ prompt, version });
    else send({ prompt: null, input: { name: name.trim(), folder: folder.trim() || null, ...version } });
  };
  const folders = outline?.folders.map((one) => one.folder) ?? [];
  return {
    prompt,
    isLoading: before !== null && promptQuery.isPending,
    kind,
    setKind,
    fields: { name, setName, folder, setFolder, note, setNote, variables, setVariables },
    folders,
    problem: 'problem' in read ? read.problem : null,
    error,
    isBusy,
    save,
  };
}

type SaveForm = ReturnType<typeof useSaveForm>;

function Fields({ form, formId }: { form: SaveForm; formId: string }) {
  const { kind, fields, folders } = form;
  return (
    <>
      {kind === 'prompt' && (
        <>
          <TextField
            label="Name"
            autoFocus
            maxLength={300}
            value={fields.name}
            error={fields.name.trim() === '' ? 'Enter a name' : null}
            onValueChange={fields.setName}
            onFocus={(event) => event.currentTarget.select()}
          />
          <TextField
            label="Folder"
            maxLength={1000}
            list={`${formId}-folders`}
            placeholder="None"
            value={fields.folder}
            onValueChange={fields.setFolder}
          />
          <datalist id={`${formId}-folders`}>
            {folders.map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
        </>
      )}
      <TextField
        label="Note"
        autoFocus={kind === 'version'}
        maxLength={10_000}
        placeholder="What changed? (optional)"
        value={fields.note}
        onValueChange={fields.setNote}
      />
      {fields.variables.length > 0 && (
        <details className="save-form__variables">
          <summary className="small">
            <Icon icon={ChevronRight} size="small" />
            {formatPlural(fields.variables.length, 'variable')}
            <span className="tertiary">Descriptions, defaults and samples</span>
          </summary>
          <VariableFields variables={fields.variables} onChange={fields.setVariables} />
        </details>
      )}
    </>
  );
}

/** Saves the draft to the library: as the next version of its prompt, or as a new prompt. */
export function SaveDialog({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const formId = useId();
  const source = draft.source ?? null;
  const version = usePromptVersion(source?.promptId ?? null, source?.versionId ?? null);
  const before = version.data ?? null;
  const form = useSaveForm(draft, before, onClose);
  // Until the prompt is known, Save would create a second prompt in place of a version.
  const isLoading = source !== null && (version.isPending || form.isLoading);
  const { prompt, kind, problem, error } = form;
  const isSame = kind === 'version' && before !== null && !isEdited(draft, before);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isLoading && !form.isBusy) form.save();
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        type="submit"
        form={formId}
        variant="primary"
        keys="Enter"
        isBusy={form.isBusy}
        aria-disabled={problem !== null || isLoading || undefined}
      >
        Save
      </Button>
    </>
  );
  return (
    <Dialog
      title={prompt || isLoading ? `Save "${prompt?.name ?? draft.name}"` : 'Save to library'}
      isOpen
      isWide={form.fields.variables.length > 0}
      onClose={onClose}
      footer={footer}
    >
      <form id={formId} className="save-form" onSubmit={submit}>
        {prompt && <Segmented label="Save as" value={kind} options={kinds} onValueChange={form.setKind} />}
        {problem !== null && <Notice tone="negative">{problem}</Notice>}
        {isSame && <Notice>No changes since version {before.number} (values aren't saved).</Notice>}
        {isLoading ? <LoadingRows label="Loading the prompt" /> : <Fields key={kind} form={form} formId={formId} />}
        {error && (
          <p className="small negative" role="alert">
            {describeError(error).message}
          </p>
        )}
      </form>
    </Dialog>
  );
}
