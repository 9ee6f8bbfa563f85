import { Ban, Pencil } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { ApiKey } from '../../../../shared/contract/api-keys.ts';
import { scopes as allScopes } from '../../../../shared/contract/endpoint.ts';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { formatCount, formatTime } from '../../../components/format.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { Badge } from '../../../components/marks.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { useReturnFocus } from '../../../components/use-return-focus.ts';
import { useRevokeApiKey, useUpdateApiKey } from '../../../queries/api-keys.ts';
import { LimitFields, readLimits, textsOf } from './key-limits.tsx';

function LimitsDialog({ apiKey, isOpen, onClose }: { apiKey: ApiKey; isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title={`Limits of ${apiKey.name}`} isOpen={isOpen} onClose={onClose}>
      <LimitsForm apiKey={apiKey} onDone={onClose} />
    </Dialog>
  );
}

function LimitsForm({ apiKey, onDone }: { apiKey: ApiKey; onDone: () => void }) {
  const [texts, setTexts] = useState(textsOf(apiKey));
  const update = useUpdateApiKey();
  const limits = readLimits(texts);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (limits !== null) update.mutate({ id: apiKey.id, ...limits }, { onSuccess: onDone });
  };
  return (
    <form className="settings__stack" onSubmit={submit}>
      <LimitFields texts={texts} onChange={setTexts} hasFocus />
      {update.error && (
        <p className="caption negative" role="alert">
          {describeError(update.error).message}
        </p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" isBusy={update.isPending}>
          Save
        </Button>
        <Button variant="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function LimitsOf({ apiKey: { creditLimit, requestsPerMinute, tokensPerMinute } }: { apiKey: ApiKey }) {
  const limits = [
    creditLimit !== null && formatCount(creditLimit),
    requestsPerMinute !== null && `${formatCount(requestsPerMinute)} requests/min`,
    tokensPerMinute !== null && `${formatCount(tokensPerMinute)} tokens/min`,
  ].filter((limit) => limit !== false);
  if (limits.length === 0) return <span className="tertiary">None</span>;
  return limits.map((limit) => <div key={limit}>{limit}</div>);
}

/** One key: who it is for, what it may do and did, its limits, and the way to end it. */
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
        <LimitsOf apiKey={apiKey} />
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
              label={`Edit limits of ${name}`}
              onClick={() => setEditing(true)}
            />
            <IconButton size="small" icon={Ban} label={`Revoke ${name}`} onClick={() => setRevoking(true)} />
          </>
        )}
        <LimitsDialog apiKey={apiKey} isOpen={isEditing} onClose={() => setEditing(false)} />
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
