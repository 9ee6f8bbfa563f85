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
  audit: "Audit: read all callers' runs and give feedback",
  manage: 'Manage: prompts, agents, sources and dataspaces',
};

export interface IssueFormProps {
  onIssued: (key: string) => void;
  onCancel: () => void;
}

/** Name, scopes and limit of a new key. */
export function IssueForm({ onIssued, onCancel }: IssueFormProps) {
  const [name, setName] = useState('');
  const [limitText, setLimitText] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(allScopes);
  const [isSubmitted, setSubmitted] = useState(false);
  const issue = useIssueApiKey();
  const limit = readCreditLimit(limitText);
  const problems = {
    name: name.trim() === '' ? 'Give it the name of the program that will use it' : null,
    limit: 'problem' in limit ? limit.problem : null,
    scopes: chosen.length === 0 ? 'Choose at least one' : null,
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
          hint="One credit for each completion call"
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
          Issue key
        </Button>
        <Button variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
