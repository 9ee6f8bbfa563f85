import type { UseMutationResult } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { isUnencrypted } from '../../../shared/address-safety.ts';
import {
  type AddressConfirmation,
  baseAddress as baseAddressSchema,
  type ProviderState,
} from '../../../shared/contract/providers.ts';
import { Button } from '../../components/button.tsx';
import { Badge } from '../../components/badges.tsx';
import { describeError, Notice } from '../../components/state-panels.tsx';
import { providerName } from '../../../shared/provider-names.ts';
import { TextField } from '../../components/text-field.tsx';
import { useUpdateProvider } from '../../queries/providers.ts';

/** A warning for an address that others on the network can listen to; null for every other one. */
export function encryptionCaution(address: string): string | null {
  if (!isUnencrypted(address.trim())) return null;
  return 'Not encrypted: others on the network can read prompts, answers and keys. Use https:// if the server supports it.';
}

export function EncryptionBadge({ address }: { address: string }) {
  return isUnencrypted(address) ? <Badge tone="caution">Not encrypted</Badge> : null;
}

function Reason({ confirmation: { keyOrigin, keySource } }: { confirmation: AddressConfirmation }) {
  if (keySource === null) return 'This address was not entered on this device. Prompts would be sent to it.';
  if (keyOrigin === null) return "Touchstone doesn't know which address the stored key was entered for.";
  const subject = keySource === 'environment' ? 'The key from the environment is' : 'The stored key was entered';
  return (
    <>
      {subject} for <span className="mono--small breakable">{keyOrigin}</span>.
    </>
  );
}

interface AddressRequestProps {
  confirmation: AddressConfirmation;
  /** Confirms an origin. */
  confirm: UseMutationResult<unknown, Error, string>;
  /** Whether the page's address leads here. */
  hasFocus?: boolean;
  /** An alternative action, as a button. */
  children?: ReactNode;
}

/** Confirms an address before anything is sent to it, if it came with a database or a key would be sent to another address. */
export function AddressRequest({ confirmation, confirm, hasFocus = false, children }: AddressRequestProps) {
  const { origin, keySource } = confirmation;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (hasFocus) button.current?.focus();
  }, [hasFocus]);
  return (
    <div className="provider__notice">
      <Notice tone="caution">
        <strong className="breakable">
          {keySource === null ? 'Send prompts to' : 'Use this key for'} {origin.replace('https://', '')}?
        </strong>{' '}
        <Reason confirmation={confirmation} /> Nothing is sent until you confirm.
        {isUnencrypted(origin) && ` ${encryptionCaution(origin)}`}
        {confirm.error && (
          <p className="negative" role="alert">
            {describeError(confirm.error).message}
          </p>
        )}
        <div className="row provider__answers">
          <Button ref={button} size="small" isBusy={confirm.isPending} onClick={() => confirm.mutate(origin)}>
            {keySource === null ? 'Use this address' : 'Use this key'}
          </Button>
          {children}
        </div>
      </Notice>
    </div>
  );
}

/** Sets the base address of a provider, for people behind a gateway. The address includes the version, as in `https://host/v1`. */
export function AddressForm({ provider, onDone }: { provider: ProviderState; onDone: () => void }) {
  const [address, setAddress] = useState(provider.baseAddress);
  const [problem, setProblem] = useState<string | null>(null);
  const update = useUpdateProvider(provider.aiSystem);
  const save = (next: string | null) => update.mutate(next, { onSuccess: onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const checked = baseAddressSchema.safeParse(address.trim());
    if (checked.success) save(checked.data);
    else setProblem(`The base URL ${checked.error.issues[0]?.message ?? 'is not valid'}`);
  };
  return (
    <form className="provider__form provider__form--address" onSubmit={submit}>
      <span className="small secondary">Base URL</span>
      <TextField
        label={`Base URL of ${providerName(provider.aiSystem)}`}
        isLabelHidden
        isMono
        autoFocus
        value={address}
        caution={encryptionCaution(address)}
        error={problem ?? (update.error ? describeError(update.error).message : null)}
        onValueChange={(next) => {
          setAddress(next);
          setProblem(null);
        }}
      />
      <Button type="submit" isBusy={update.isPending}>
        Save
      </Button>
      {!provider.isBaseAddressDefault && (
        <Button variant="quiet" onClick={() => save(null)}>
          Use default
        </Button>
      )}
      <p className="caption tertiary">Include the version, e.g. /v1. All runs and tests use this URL.</p>
    </form>
  );
}
