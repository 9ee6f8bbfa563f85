import { type FormEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import type { Prompt, PromptVariable, PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAddVersion, useUpdatePrompt, versionInput } from '../../queries/prompts.ts';
import { readTags } from './library-model.ts';
import { promptAddress } from '../../shell/addresses.ts';
import { showToast } from '../../stores/toasts.ts';
import { VariableFields } from '../../components/variable-fields.tsx';

export type DetailField = 'name' | 'folder' | 'tags' | 'description';

interface DetailsDialogProps {
  prompt: Prompt;
  folders: readonly string[];
  /** The field with the initial focus. */
  focus: DetailField;
  onClose: () => void;
}

interface FolderFieldProps {
  folders: readonly string[];
  isFocused: boolean;
  value: string;
  onChange: (folder: string) => void;
}

/** A folder name, with the existing folders as suggestions. */
function FolderField({ folders, isFocused, value, onChange }: FolderFieldProps) {
  const listId = useId();
  return (
    <>
      <TextField
        label="Folder"
        autoFocus={isFocused}
        maxLength={1000}
        list={listId}
        placeholder="None"
        hint="Use / for subfolders, e.g. support/mail"
        value={value}
        onValueChange={onChange}
      />
      <datalist id={listId}>
        {folders.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </>
  );
}

function DetailsForm({ prompt, folders, focus, onClose, formId }: DetailsDialogProps & { formId: string }) {
  const [name, setName] = useState(prompt.name);
  const [folder, setFolder] = useState(prompt.folder ?? '');
  const [tags, setTags] = useState(prompt.tags.join(', '));
  const [description, setDescription] = useState(prompt.description ?? '');
  const update = useUpdatePrompt();
  const problem = name.trim() === '' ? 'Enter a name' : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problem) return;
    update.mutate(
      {
        id: prompt.id,
        name: name.trim(),
        folder: folder.trim() || null,
        tags: readTags(tags),
        description: description.trim() || null,
      },
      { onSuccess: onClose },
    );
  };
  return (
    <form id={formId} className="prompts__form" onSubmit={submit}>
      <TextField
        label="Name"
        autoFocus={focus === 'name'}
        maxLength={300}
        value={name}
        error={problem}
        onValueChange={setName}
      />
      <FolderField folders={folders} isFocused={focus === 'folder'} value={folder} onChange={setFolder} />
      <TextField
        label="Tags"
        autoFocus={focus === 'tags'}
        placeholder="None"
        hint="Separated by commas"
        value={tags}
        onValueChange={setTags}
      />
      <TextField
        label="Description"
        autoFocus={focus === 'description'}
        maxLength={10_000}
        placeholder="None"
        value={description}
        onValueChange={setDescription}
      />
      {update.error && (
        <p className="small negative" role="alert">
          {describeError(update.error).message}
        </p>
      )}
    </form>
  );
}

/** Name and folder of a prompt. Its texts change only with a version. */
export function DetailsDialog(props: DetailsDialogProps) {
  const formId = useId();
  const footer = (
    <>
      <Button onClick={props.onClose}>Cancel</Button>
      <Button type="submit" form={formId} variant="primary" keys="Enter">
        Save
      </Button>
    </>
  );
  return (
    <Dialog title={`Edit details of ${props.prompt.name}`} isOpen onClose={props.onClose} footer={footer}>
      <DetailsForm {...props} formId={formId} />
    </Dialog>
  );
}

interface VariablesDialogProps {
  version: PromptVersion;
  variables: readonly PromptVariable[];
  onClose: () => void;
}

/** Edits the details of a version's variables. The version stays unchanged: the changes become a new version. */
export function VariablesDialog({ version, variables, onClose }: VariablesDialogProps) {
  const formId = useId();
  const [, navigate] = useLocation();
  const [edited, setEdited] = useState<readonly PromptVariable[]>(variables);
  const addVersion = useAddVersion();
  const isSame = JSON.stringify(edited) === JSON.stringify(variables);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isSame) return;
    addVersion.mutate(
      {
        ...versionInput(version),
        promptId: version.promptId,
        variables: [...edited],
        note: `Variables of version ${version.number} changed`,
      },
      {
        onSuccess: ({ id, number, promptId }) => {
          onClose();
          navigate(promptAddress(promptId, id));
          showToast({ tone: 'neutral', text: `Saved as version ${number}.` });
        },
      },
    );
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        type="submit"
        form={formId}
        variant="primary"
        isBusy={addVersion.isPending}
        aria-disabled={isSame || undefined}
      >
        Save as a new version
      </Button>
    </>
  );
  return (
    <Dialog title={`Variables of version ${version.number}`} isOpen isWide onClose={onClose} footer={footer}>
      <form id={formId} className="prompts__form" onSubmit={submit}>
        <VariableFields variables={edited} onChange={setEdited} />
        {addVersion.error && (
          <p className="small negative" role="alert">
            {describeError(addVersion.error).message}
          </p>
        )}
      </form>
    </Dialog>
  );
}
