import { type FormEvent, type ReactNode, useState } from 'react';
import { Plus } from 'lucide-react';
import { Button, CopyButton } from '../../components/button.tsx';
import type { RecordLevel } from '../../../shared/contract/common.ts';
import { type Scope, scopes as allScopes } from '../../../shared/contract/endpoint.ts';
import { Checkbox } from '../../components/choices.tsx';
import { describeError, EmptyState, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useApiKeys, useIssueApiKey } from '../../queries/settings.ts';
import { ApiKeyRow, LevelField, LimitFields, readLimits, textsOf } from './api-key-row.tsx';
import type { ApiKey } from '../../../shared/contract/api-keys.ts';
import { useReturnFocus } from '../../components/focus.ts';
import { useIsOpen } from '../../shell/navigate-from-here.ts';
import { showToast } from '../../stores/toasts.ts';
import { SettingsPage } from './settings-page.tsx';

/** The only place that shows a key. */
function IssuedKey({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  return (
    <div className="issued" role="status">
      <p className="strong">Copy the key now</p>
      <p className="small secondary">Touchstone stores only its hash and never shows the key again.</p>
      <div className="issued__key">
        <code className="mono">{apiKey}</code>
        <CopyButton label="Copy key" text={apiKey} size="small" />
        <Button size="small" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}

const meanings: Record<Scope, string> = {
  run: 'Run: completions, moderation, stored prompts and agents',
  audit: "Audit: read and rate all callers' runs",
  manage: 'Manage: prompts, agents, sources and dataspaces',
};

/** A key that can only run prompts can't read other callers' data or change anything. */
const defaultScopes: readonly Scope[] = ['run'];

interface IssueFormProps {
  onIssued: (key: string, name: string) => void;
  onCancel: () => void;
}

interface ScopeChoicesProps {
  chosen: readonly Scope[];
  onChange: (chosen: readonly Scope[]) => void;
}

function ScopeChoices({ chosen, onChange }: ScopeChoicesProps) {
  return (
    <div className="settings__choices" role="group" aria-label="Scopes">
      {allScopes.map((scope) => (
        <Checkbox
          key={scope}
          label={meanings[scope]}
          isChecked={chosen.includes(scope)}
          onCheckedChange={(isChecked) =>
            onChange(allScopes.filter((other) => (other === scope ? isChecked : chosen.includes(other))))
          }
        />
      ))}
    </div>
  );
}

/** Name, scopes and limits of a new key. */
function IssueForm({ onIssued, onCancel }: IssueFormProps) {
  const [name, setName] = useState('');
  const [limitTexts, setLimitTexts] = useState(textsOf(null));
  const [chosen, setChosen] = useState<readonly Scope[]>(defaultScopes);
  const [recordLevel, setRecordLevel] = useState<RecordLevel>('all');
  const [isSubmitted, setSubmitted] = useState(false);
  const issue = useIssueApiKey();
  const isOpen = useIsOpen();
  const limits = readLimits(limitTexts);
  const problems = {
    name: name.trim() === '' ? 'Enter the name of the program that will use the key' : null,
    scopes: chosen.length === 0 ? 'Select at least one scope' : null,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSubmitted(true);
    if (problems.name ?? problems.scopes ?? limits === null) return;
    // Also after the form is left: nothing shows the key again.
    issue.mutateAsync({ name: name.trim(), scopes: [...chosen], recordLevel, ...limits }).then(
      ({ key }) => {
        onIssued(key, name.trim());
        if (isOpen()) onCancel();
      },
      () => {},
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
        <LimitFields texts={limitTexts} onChange={setLimitTexts} />
      </div>
      <ScopeChoices chosen={chosen} onChange={setChosen} />
      <LevelField level={recordLevel} onChange={setRecordLevel} />
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

function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  return (
    <div className="card">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Scopes</th>
            <th scope="col" className="right">
              Credits used
            </th>
            <th scope="col" className="right">
              Limits
            </th>
            <th scope="col">Last used</th>
            <th scope="col" className="wide-only">
              Created
            </th>
            <th scope="col">Caller ID</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <ApiKeyRow key={key.id} apiKey={key} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface KeyListProps {
  keys: readonly ApiKey[];
  /** Null while the form for a new key is open. */
  createButton: ReactNode;
  /** Whether a new key, or the form for one, is shown above the list. */
  isNewShown: boolean;
}

/** The keys, without revoked ones unless they are requested. */
function KeyList({ keys, createButton, isNewShown }: KeyListProps) {
  const [areRevokedShown, setRevokedShown] = useState(false);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null).length;
  const shown = keys.filter(({ revokedAt }) => areRevokedShown || revokedAt === null);
  return (
    <>
      {shown.length > 0 && <KeyTable keys={shown} />}
      {shown.length === 0 && !isNewShown && (
        <EmptyState
          title="No API keys"
          reason="This window needs no key. Create one for each program that calls the service."
        >
          {createButton}
        </EmptyState>
      )}
      <div className="row">
        {shown.length > 0 && createButton}
        <span className="grow" />
        {revoked > 0 && (
          <Checkbox label={`Show ${revoked} revoked`} isChecked={areRevokedShown} onCheckedChange={setRevokedShown} />
        )}
      </div>
    </>
  );
}

/** Keys for programs that call the service over HTTP. */
export function ApiKeysPage() {
  const apiKeys = useApiKeys();
  const [isIssuing, setIssuing] = useState(false);
  const [issued, setIssued] = useState<string | null>(null);
  const isOpen = useIsOpen();
  const returnTarget = useReturnFocus<HTMLButtonElement>(isIssuing);
  const issueButton = (
    <Button ref={returnTarget} icon={Plus} onClick={() => setIssuing(true)}>
      Create API key
    </Button>
  );
  return (
    <SettingsPage
      title="API keys"
      lead="Programs need an API key to call the service over HTTP. Each key has its own name in the audit, its own scopes and optional limits."
    >
      <div className="settings__stack">
        {issued !== null && <IssuedKey apiKey={issued} onDone={() => setIssued(null)} />}
        {isIssuing && (
          <IssueForm
            onCancel={() => setIssuing(false)}
            onIssued={(key, name) => {
              if (isOpen()) return setIssued(key);
              const text = `Created the key "${name}" after you left its page, so it wasn't shown. Revoke it and create another.`;
              showToast({ tone: 'negative', text });
            }}
          />
        )}
        <QueryView query={apiKeys} subject="the API keys">
          {({ data }) => (
            <KeyList
              keys={data}
              createButton={isIssuing ? null : issueButton}
              isNewShown={isIssuing || issued !== null}
            />
          )}
        </QueryView>
      </div>
    </SettingsPage>
  );
}
