import { Ban, Pencil } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { type ApiKey, apiKeyInput } from '../../../shared/contract/api-keys.ts';
import type { RecordLevel } from '../../../shared/contract/common.ts';
import { TextField } from '../../components/text-field.tsx';
import { scopes as allScopes } from '../../../shared/contract/endpoint.ts';
import { Button, CopyButton, IconButton } from '../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../components/dialog.tsx';
import { formatCount, formatTime } from '../../components/format.ts';
import { Badge } from '../../components/badges.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { useReturnFocus } from '../../components/focus.ts';
import { LevelChoice } from './recording-page.tsx';
import { SettingRow } from './settings-page.tsx';
import { useRevokeApiKey, useUpdateApiKey } from '../../queries/settings.ts';

const limitNames = ['creditLimit', 'requestsPerMinute', 'tokensPerMinute'] as const;
type LimitName = (typeof limitNames)[number];

/** The texts of the fields. */
type LimitTexts = Readonly<Record<LimitName, string>>;
type Limits = Pick<ApiKey, LimitName>;

const labels: Record<LimitName, string> = {
  creditLimit: 'Credit limit',
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
};

const hints: Record<LimitName, string> = {
  creditLimit: "Each completion call costs 1 credit, as does moderation by a provider's model",
  requestsPerMinute: 'Above it, requests get status 429',
  tokensPerMinute: 'Prompts and answers together',
};

const smallest: Record<LimitName, number> = { creditLimit: 0, requestsPerMinute: 1, tokensPerMinute: 1 };

export function textsOf(limits: Limits | null): LimitTexts {
  const text = (name: LimitName): string => String(limits?.[name] ?? '');
  return {
    creditLimit: text('creditLimit'),
    requestsPerMinute: text('requestsPerMinute'),
    tokensPerMinute: text('tokensPerMinute'),
  };
}

/** Empty means no limit. */
function valueOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text.replaceAll(/[\s,_]/g, ''));
}

function problemOf(name: LimitName, text: string): string | null {
  if (apiKeyInput.shape[name].safeParse(valueOf(text)).success) return null;
  return `Must be a whole number from ${smallest[name]} to 1,000,000,000, or empty for no limit`;
}

/** The limits in the fields; null if one is invalid. */
export function readLimits(texts: LimitTexts): Limits | null {
  if (limitNames.some((name) => problemOf(name, texts[name]) !== null)) return null;
  return {
    creditLimit: valueOf(texts.creditLimit),
    requestsPerMinute: valueOf(texts.requestsPerMinute),
    tokensPerMinute: valueOf(texts.tokensPerMinute),
  };
}

interface LimitFieldsProps {
  texts: LimitTexts;
  onChange: (texts: LimitTexts) => void;
  hasFocus?: boolean;
}

/** One field for each limit of a key. */
export function LimitFields({ texts, onChange, hasFocus = false }: LimitFieldsProps) {
  return limitNames.map((name, index) => (
    <TextField
      key={name}
      label={labels[name]}
      autoFocus={hasFocus && index === 0}
      inputMode="numeric"
      placeholder="No limit"
      hint={hints[name]}
      value={texts[name]}
      error={problemOf(name, texts[name])}
      onValueChange={(text) => onChange({ ...texts, [name]: text })}
    />
  ));
}

/** How much is recorded of calls to the APIs of other providers that a program makes with the key. */
export function LevelField({ level, onChange }: { level: RecordLevel; onChange: (level: RecordLevel) => void }) {
  return (
    <SettingRow label="Recorded of its OpenAI and Anthropic calls" detail="Never more than Settings, Recording allows">
      <LevelChoice label="Recorded of its OpenAI and Anthropic calls" level={level} onChange={onChange} />
    </SettingRow>
  );
}

function LimitsDialog({ apiKey, isOpen, onClose }: { apiKey: ApiKey; isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title={`Limits of ${apiKey.name}`} isOpen={isOpen} onClose={onClose}>
      <LimitsForm apiKey={apiKey} onDone={onClose} />
    </Dialog>
  );
}

function LimitsForm({ apiKey, onDone }: { apiKey: ApiKey; onDone: () => void }) {
  const [texts, setTexts] = useState(textsOf(apiKey));
  const [recordLevel, setRecordLevel] = useState(apiKey.recordLevel);
  const update = useUpdateApiKey();
  const limits = readLimits(texts);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (limits !== null) update.mutate({ id: apiKey.id, recordLevel, ...limits }, { onSuccess: onDone });
  };
  return (
    <form className="settings__stack" onSubmit={submit}>
      <LimitFields texts={texts} onChange={setTexts} hasFocus />
      <LevelField level={recordLevel} onChange={setRecordLevel} />
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

/** One key: its name, scopes, use and limits, and the button that revokes it. */
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
