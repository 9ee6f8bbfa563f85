import { useState, type FormEvent } from 'react';
import { scopes as allScopes, type Scope } from '../../../../shared/contract/endpoint.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useIssueApiKey } from '../../../queries/api-keys.ts';
import { LimitFields, readLimits, textsOf } from './key-limits.tsx';

const meanings: Record<Scope, string> = {
  run: 'Run: completions, moderation, stored prompts and agents',
  audit: "Audit: read and rate all callers' runs",
  manage: 'Manage: prompts, agents, sources and dataspaces',
};

/** A key that only runs prompts can neither read other callers' data nor change anything. */
const defaultScopes: readonly Scope[] = ['run'];

export interface IssueFormProps {
  onIssued: (key: string) => void;
  onCancel: () => void;
}

/** Name, scopes and limits of a new key. */
export function IssueForm({ onIssued, onCancel }: IssueFormProps) {
  const [name, setName] = useState('');
  const [limitTexts, setLimitTexts] = useState(textsOf(null));
  const [chosen, setChosen] = useState<readonly Scope[]>(defaultScopes);
  const [isSubmitted, setSubmitted] = useState(false);
  const issue = useIssueApiKey();
  const limits = readLimits(limitTexts);
  const problems = {
    name: name.trim() === '' ? 'Enter the name of the program that will use the key' : null,
    scopes: chosen.length === 0 ? 'Select at least one scope' : null,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (problems.name ?? problems.scopes ?? limits === null) return;
    issue.mutate({ name: name.trim(), scopes: [...chosen], ...limits }, { onSuccess: ({ key }) => onIssued(key) });
  };
  return (
    <form className="card settings__form" aria-label="New API key" onSubmit={submit}>
      <div className="settings__fields">
        <TextField
          label="Name"
          autoFocus
          placeholder="nightly-report"
          value={name}
          error={isSubmitted ? problems.name : null}
          onValueChange={setName}
        />
        <LimitFields texts={limitTexts} onChange={setLimitTexts} />
      </div>
      <div className="settings__choices" role="group" aria-label="Scopes">
        {allScopes.map((scope) => (
          <Checkbox
            key={scope}
            label={meanings[scope]}
            isChecked={chosen.includes(scope)}
            onCheckedChange={(isChecked) =>
              setChosen(allScopes.filter((other) => (other === scope ? isChecked : chosen.includes(other))))
            }
          />
        ))}
      </div>
      {problems.scopes && <p className="caption negative">{problems.scopes}</p>}
      {issue.error && (
        <p className="caption negative" role="alert">
          {describeError(issue.error).message}
        </p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" keys="Enter" isBusy={issue.isPending}>
          Create key
        </Button>
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
