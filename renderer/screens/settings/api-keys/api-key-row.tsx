import { Ban, Pencil } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { ApiKey } from '../../../../shared/contract/api-keys.ts';
import { scopes as allScopes } from '../../../../shared/contract/endpoint.ts';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatCount, formatTime } from '../../../components/format.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { Badge } from '../../../components/marks.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useReturnFocus } from '../../../components/use-return-focus.ts';
import { useRevokeApiKey, useUpdateApiKey } from '../../../queries/api-keys.ts';
import { readCreditLimit } from './credit-limit.ts';

function LimitForm({ apiKey, onDone }: { apiKey: ApiKey; onDone: () => void }) {
  const [text, setText] = useState(apiKey.creditLimit === null ? '' : String(apiKey.creditLimit));
  const update = useUpdateApiKey();
  const limit = readCreditLimit(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if ('limit' in limit) update.mutate({ id: apiKey.id, creditLimit: limit.limit }, { onSuccess: onDone });
  };
  return (
    <form className="limit-form" onSubmit={submit} onKeyDown={(event) => event.key === 'Escape' && onDone()}>
      <TextField
        label={`Credit limit of ${apiKey.name}`}
        isLabelHidden
        size="small"
        autoFocus
        inputMode="numeric"
        placeholder="No limit"
        value={text}
        error={'problem' in limit ? limit.problem : null}
        onValueChange={setText}
      />
      <Button size="small" type="submit" isBusy={update.isPending}>
        Save
      </Button>
    </form>
  );
}

/** One key: who it is for, what it may do and did, its limit, and the way to end it. */
export function ApiKeyRow({ apiKey }: { apiKey: ApiKey }) {
  const [isEditing, setEditing] = useState(false);
  const [isRevoking, setRevoking] = useState(false);
  const editButton = useReturnFocus<HTMLButtonElement>(isEditing);
  const revoke = useRevokeApiKey();
  const { name, scopes, lastUsedAt, revokedAt, callerId, createdAt, creditsUsed, creditLimit } = apiKey;
  const isUsedUp = creditLimit !== null && creditsUsed >= creditLimit;
  return (
    <tr className={revokedAt ? 'is-off' : undefined}>
      <td>
        <span className="row">
          <span className="medium">{name}</span>
          {isUsedUp && <Badge tone="caution">Limit reached</Badge>}
        </span>
      </td>
      <td>{scopes.length === allScopes.length ? 'All' : scopes.join(', ')}</td>
      <td className="right nowrap">{formatCount(creditsUsed)}</td>
      <td className="right nowrap">
        {isEditing ? (
          <LimitForm apiKey={apiKey} onDone={() => setEditing(false)} />
        ) : creditLimit === null ? (
          <span className="tertiary">None</span>
        ) : (
          formatCount(creditLimit)
        )}
      </td>
      <td className="nowrap">{lastUsedAt ? formatTime(lastUsedAt) : <span className="tertiary">Never</span>}</td>
      <td className="nowrap wide-only">{revokedAt ? `Revoked ${formatTime(revokedAt)}` : formatTime(createdAt)}</td>
      <td className="nowrap">
        <span className="row">
          <span className="mono--small" title={callerId}>
            {callerId.slice(0, 8)}
          </span>
          <CopyButton isIconOnly size="small" label={`Copy caller ID of ${name}`} text={callerId} />
        </span>
      </td>
      <td className="right nowrap">
        {!revokedAt && (
          <>
            <IconButton
              ref={editButton}
              size="small"
              icon={Pencil}
              label={`Edit credit limit of ${name}`}
              onClick={() => setEditing(!isEditing)}
            />
            <IconButton size="small" icon={Ban} label={`Revoke ${name}`} onClick={() => setRevoking(true)} />
          </>
        )}
        <ConfirmDialog
          title={`Revoke ${name}?`}
          isOpen={isRevoking}
          onClose={() => setRevoking(false)}
          action="Revoke key"
          isBusy={revoke.isPending}
          onConfirm={() => revoke.mutate(apiKey.id, { onSettled: () => setRevoking(false) })}
        >
          Requests with this key are rejected from now on. This can&apos;t be undone, but you can create a new key. The
          key&apos;s runs are kept.
        </ConfirmDialog>
      </td>
    </tr>
  );
}
