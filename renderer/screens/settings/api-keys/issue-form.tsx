import { useState, type FormEvent } from 'react';
import { scopes as allScopes, type Scope } from '../../../../shared/contract/endpoint.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useIssueApiKey } from '../../../queries/api-keys.ts';
import { readCreditLimit } from './credit-limit.ts';

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

/** Name, scopes and limit of a new key. */
export function IssueForm({ onIssued, onCancel }: IssueFormProps) {
  const [name, setName] = useState('');
  const [limitText, setLimitText] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(defaultScopes);
  const [isSubmitted, setSubmitted] = useState(false);
  const issue = useIssueApiKey();
  const limit = readCreditLimit(limitText);
  const problems = {
    name: name.trim() === '' ? 'Enter the name of the program that will use the key' : null,
    limit: 'problem' in limit ? limit.problem : null,
    scopes: chosen.length === 0 ? 'Select at least one scope' : null,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (problems.name ?? problems.limit ?? problems.scopes) return;
    issue.mutate(
      { name: name.trim(), scopes: [...chosen], creditLimit: 'limit' in limit ? limit.limit : null },
      { onSuccess: ({ key }) => onIssued(key) },
    );
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
        <TextField
          label="Credit limit"
          inputMode="numeric"
          placeholder="No limit"
          hint="Each completion call costs 1 credit"
          value={limitText}
          error={problems.limit}
          onValueChange={setLimitText}
        />
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
