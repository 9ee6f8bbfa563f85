import { type FormEvent, useState } from 'react';
import { type CompatibleEndpoint, endpointInput } from '../../../shared/contract/providers.ts';
import { Button } from '../../components/button.tsx';
import { Checkbox } from '../../components/choices.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { type EndpointInput, useAddEndpoint, useUpdateEndpoint } from '../../queries/providers.ts';
import { encryptionCaution } from './address-confirmation.tsx';

interface Draft {
  name: string;
  baseAddress: string;
  key: string;
  isKeyRemoved: boolean;
}

type Problems = Partial<Record<'name' | 'baseAddress' | 'key', string>>;

/** The contract's messages start with the field's name; here they appear below the field. */
function asSentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether the address is unchanged and has a form that was accepted once and is no longer, such as one with a query. */
function isUnchangedOldForm({ baseAddress }: Draft, endpoint: CompatibleEndpoint | null): boolean {
  return baseAddress === endpoint?.baseAddress && !endpointInput.shape.baseAddress.safeParse(baseAddress).success;
}

/** The errors of each field by the contract's schema. */
function endpointProblems({ name, baseAddress, key }: Draft): Problems {
  const checked = endpointInput.safeParse({ name, baseAddress, key: key === '' ? null : key });
  const problems: Problems = {};
  for (const issue of checked.error?.issues ?? []) {
    const field = issue.path[0];
    if (field === 'name' || field === 'baseAddress' || field === 'key') problems[field] ??= asSentence(issue.message);
  }
  return problems;
}

function inputOf({ name, baseAddress, key, isKeyRemoved }: Draft): EndpointInput {
  return { name, baseAddress, key: key !== '' ? key : isKeyRemoved ? null : undefined };
}

interface EndpointFieldsProps {
  endpoint: CompatibleEndpoint | null;
  draft: Draft;
  problems: Problems;
  onChange: (part: Partial<Draft>) => void;
}

function EndpointFields({ endpoint, draft, problems, onChange }: EndpointFieldsProps) {
  const hasKey = ((endpoint?.confirmation ?? endpoint)?.keySource ?? endpoint?.keyFailure) != null;
  return (
    <>
      <div className="settings__fields">
        <TextField
          label="Name"
          autoFocus={endpoint === null}
          disabled={endpoint !== null}
          hint={
            endpoint
              ? "Part of the model names, so it can't change"
              : `Model names become ${draft.name || 'name'}/model`
          }
          value={draft.name}
          error={problems.name}
          onValueChange={(name) => onChange({ name })}
        />
        <TextField
          label="Base URL"
          isMono
          placeholder="http://127.0.0.1:11434/v1"
          autoFocus={endpoint !== null}
          hint="Include the version, e.g. /v1"
          caution={encryptionCaution(draft.baseAddress)}
          value={draft.baseAddress}
          error={problems.baseAddress}
          onValueChange={(baseAddress) => onChange({ baseAddress })}
        />
        <TextField
          label="API key"
          isMono
          type="password"
          disabled={draft.isKeyRemoved}
          hint={hasKey ? 'Leave empty to keep the current key' : 'Only if the endpoint requires one'}
          value={draft.key}
          error={problems.key}
          onValueChange={(key) => onChange({ key: key.trim() })}
        />
      </div>
      {hasKey && (
        <Checkbox
          label="Remove the current key"
          isChecked={draft.isKeyRemoved}
          onCheckedChange={(isKeyRemoved) => onChange({ isKeyRemoved, key: '' })}
        />
      )}
    </>
  );
}

interface EndpointFormProps {
  /** The endpoint to change; null adds one. */
  endpoint: CompatibleEndpoint | null;
  /** What the fields of a new endpoint start with. */
  suggestion?: { name: string; baseAddress: string };
  onDone: () => void;
}

/** Adds or changes an endpoint, and tests it at once. */
export function EndpointForm({ endpoint, suggestion, onDone }: EndpointFormProps) {
  const [draft, setDraft] = useState<Draft>({
    name: endpoint?.name ?? suggestion?.name ?? '',
    baseAddress: endpoint?.baseAddress ?? suggestion?.baseAddress ?? '',
    key: '',
    isKeyRemoved: false,
  });
  const [problems, setProblems] = useState<Problems>({});
  const add = useAddEndpoint();
  const update = useUpdateEndpoint();
  const save = endpoint ? update : add;
  const change = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setProblems({});
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const newProblems = endpointProblems(draft);
    const isOldForm = isUnchangedOldForm(draft, endpoint);
    if (isOldForm) delete newProblems.baseAddress;
    setProblems(newProblems);
    if (Object.keys(newProblems).length > 0) return;
    const input = inputOf(draft);
    if (!endpoint) add.mutate(input, { onSuccess: onDone });
    else update.mutate(isOldForm ? { ...input, baseAddress: undefined } : input, { onSuccess: onDone });
  };
  return (
    <form className="settings__form" aria-label={endpoint ? `Edit ${endpoint.name}` : 'New endpoint'} onSubmit={submit}>
      <EndpointFields endpoint={endpoint} draft={draft} problems={problems} onChange={change} />
      {save.error && (
        <p className="caption negative" role="alert">
          {describeError(save.error).message}
        </p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" keys="Enter" isBusy={save.isPending}>
          Save and test
        </Button>
        <Button variant="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
