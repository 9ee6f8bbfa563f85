import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ApiKey } from '../../../../shared/contract/api-keys.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { QueryView } from '../../../components/query-view.tsx';
import { EmptyState } from '../../../components/state-panels.tsx';
import { useReturnFocus } from '../../../components/use-return-focus.ts';
import { useApiKeys } from '../../../queries/api-keys.ts';
import { SettingsPage } from '../settings-page.tsx';
import { ApiKeyRow } from './api-key-row.tsx';
import { IssueForm } from './issue-form.tsx';
import { IssuedKey } from './issued-key.tsx';

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

/** Keys for programs that call the service over HTTP. */
export function ApiKeysPage() {
  const apiKeys = useApiKeys();
  const [isIssuing, setIssuing] = useState(false);
  const [issued, setIssued] = useState<string | null>(null);
  const [areRevokedShown, setRevokedShown] = useState(false);
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
            onIssued={(key) => {
              setIssued(key);
              setIssuing(false);
            }}
          />
        )}
        <QueryView query={apiKeys} subject="the API keys">
          {({ data }) => {
            const revoked = data.filter(({ revokedAt }) => revokedAt !== null).length;
            const shown = data.filter(({ revokedAt }) => areRevokedShown || revokedAt === null);
            return (
              <>
                {shown.length > 0 && <KeyTable keys={shown} />}
                {shown.length === 0 && !isIssuing && issued === null && (
                  <EmptyState
                    title="No API keys"
                    reason="This window needs no key. Create one for each program that calls the service."
                  >
                    {issueButton}
                  </EmptyState>
                )}
                <div className="row">
                  {shown.length > 0 && !isIssuing && issueButton}
                  <span className="grow" />
                  {revoked > 0 && (
                    <Checkbox
                      label={`Show ${revoked} revoked`}
                      isChecked={areRevokedShown}
                      onCheckedChange={setRevokedShown}
                    />
                  )}
                </div>
              </>
            );
          }}
        </QueryView>
      </div>
    </SettingsPage>
  );
}
