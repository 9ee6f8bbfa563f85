import { ClipboardPaste, Globe, Trash2, TriangleAlert } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import type { ProviderState } from '../../../shared/contract/providers.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import {
  useConfirmProviderAddress,
  useRemoveProviderKey,
  useSetProviderKey,
  useTestProvider,
  useUpdateProvider,
} from '../../queries/providers.ts';
import { AddressForm, AddressRequest, EncryptionBadge, encryptionCaution } from './address-confirmation.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { Badge, StateBadge } from '../../components/badges.tsx';
import { useReturnFocus } from '../../components/focus.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { CapabilityTest } from './capability-test.tsx';
import { KeyNotice, TestButtons, TestNotice, testState, testSummary } from './connection-test.tsx';

const visibleAscii = /^[\x21-\x7e]+$/;

/** Why a key can't be saved; null when it can. */
function keyProblem(key: string): string | null {
  if (key === '') return 'Enter a key';
  if (!visibleAscii.test(key)) return 'Keys contain no spaces or accented letters. Copy the key again.';
  return null;
}

function canPaste(): boolean {
  return typeof navigator.clipboard?.readText === 'function' && window.isSecureContext;
}

/** Where to get a key, and where Touchstone sends it. */
function KeyHint({ provider }: { provider: ProviderState }) {
  return (
    <p className="caption tertiary">
      Get a key at{' '}
      <a href={provider.keyPage} target="_blank" rel="noreferrer">
        {new URL(provider.keyPage).hostname}
      </a>
      . The test only lists the models. It costs nothing.
      {!provider.isBaseAddressDefault && (
        <>
          {' '}
          The key is sent to <span className="mono--small breakable">{provider.baseAddress}</span> only.{' '}
          <span className="caution">{encryptionCaution(provider.baseAddress)}</span>
        </>
      )}
    </p>
  );
}

/** Saves a key and tests it. The key goes only to the host, and the window never shows it again. */
function KeyForm({ provider, onDone }: { provider: ProviderState; onDone: () => void }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const save = useSetProviderKey(provider.aiSystem);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const newProblem = keyProblem(key);
    setProblem(newProblem);
    if (newProblem === null) save.mutate(key, { onSuccess: onDone });
  };
  const paste = async () => {
    try {
      setKey((await navigator.clipboard.readText()).trim());
    } catch {
      setProblem("Couldn't read the clipboard. Paste with the keyboard.");
    }
  };
  const rejection = save.error ? describeError(save.error).message : null;
  return (
    <form
      className="provider__form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onDone();
      }}
    >
      <span className="small secondary">API key</span>
      <TextField
        label={`API key of ${providerName(provider.aiSystem)}`}
        isLabelHidden
        isMono
        type="password"
        autoFocus
        value={key}
        error={problem ?? rejection}
        onValueChange={(next) => {
          setKey(next.trim());
          setProblem(null);
        }}
        end={canPaste() && <IconButton icon={ClipboardPaste} label="Paste" size="small" onClick={() => void paste()} />}
      />
      <Button type="submit" variant="primary" keys="Enter" isBusy={save.isPending}>
        Save and test
      </Button>
      <KeyHint provider={provider} />
    </form>
  );
}

function KeyState({ provider }: { provider: ProviderState }) {
  if (provider.confirmation)
    return (
      <StateBadge tone="caution" icon={TriangleAlert}>
        Not confirmed
      </StateBadge>
    );
  if (provider.keyFailure !== null)
    return (
      <StateBadge tone="caution" icon={TriangleAlert}>
        Key unreadable
      </StateBadge>
    );
  if (provider.keySource === null) return <StateBadge tone="neutral">No key</StateBadge>;
  const { word, ...mark } = testState(provider.lastTest, 'Key set');
  return <StateBadge {...mark}>{word}</StateBadge>;
}

function Detail({ provider }: { provider: ProviderState }) {
  const { keySource, lastTest, isBaseAddressDefault, baseAddress } = provider;
  return (
    <span className="provider__detail row">
      {keySource === 'environment' && <Badge isOutlined>From the environment</Badge>}
      {keySource === 'memory' && <Badge tone="caution">Until Touchstone quits</Badge>}
      {!isBaseAddressDefault && <EncryptionBadge address={baseAddress} />}
      <span className="truncate">
        {keySource !== null && (lastTest ? testSummary(lastTest) : 'Not tested')}
        {!isBaseAddressDefault && <span className="tertiary"> at {new URL(baseAddress).host}</span>}
      </span>
    </span>
  );
}

/** Confirms that the key and prompts may be sent to the current address, or resets the address. */
function ProviderConfirmation({ provider, hasFocus }: { provider: ProviderState; hasFocus: boolean }) {
  const confirm = useConfirmProviderAddress(provider.aiSystem);
  const update = useUpdateProvider(provider.aiSystem);
  if (!provider.confirmation) return null;
  return (
    <AddressRequest confirmation={provider.confirmation} confirm={confirm} hasFocus={hasFocus}>
      {!provider.isBaseAddressDefault && (
        <Button size="small" variant="quiet" isBusy={update.isPending} onClick={() => update.mutate(null)}>
          Use default URL
        </Button>
      )}
    </AddressRequest>
  );
}

interface RemoveKeyDialogProps {
  aiSystem: ProviderState['aiSystem'];
  isOpen: boolean;
  onClose: () => void;
}

function RemoveKeyDialog({ aiSystem, isOpen, onClose }: RemoveKeyDialogProps) {
  const remove = useRemoveProviderKey(aiSystem);
  const name = providerName(aiSystem);
  return (
    <ConfirmDialog
      title={`Remove API key of ${name}?`}
      isOpen={isOpen}
      onClose={onClose}
      action="Remove key"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate(undefined, { onSettled: onClose })}
    >
      Runs on {name} fail until you add a key again. Touchstone can&apos;t restore the key, but you can create a new one
      at the provider.
    </ConfirmDialog>
  );
}

interface ProviderRowProps {
  provider: ProviderState;
  /** Whether the page's address requests this provider's key. */
  isKeyRequested: boolean;
  /** Whether the row says why its key can't be read. */
  isFailureShown: boolean;
}

/** The open form. The page's address opens the key form, unless the row must confirm an address first. */
function useForm(isKeyRequested: boolean, isQuestion: boolean) {
  const [form, setForm] = useState<'key' | 'address' | 'capabilities' | null>(null);
  // The palette and the remedies of failed runs also lead here while the page is open.
  const [wasKeyRequested, setWasKeyRequested] = useState(false);
  if (isKeyRequested !== wasKeyRequested) {
    setWasKeyRequested(isKeyRequested);
    if (isKeyRequested && !isQuestion) setForm('key');
  }
  const [, navigate] = useLocation();
  const close = () => {
    setForm(null);
    // Otherwise, the same address would not open the form again.
    if (isKeyRequested) navigate(settingsAddress('providers'), { replace: true });
  };
  return { form, setForm, close };
}

/** A provider: the state of its key, its last test and its actions. */
export function ProviderRow({ provider, isKeyRequested, isFailureShown }: ProviderRowProps) {
  const { aiSystem, confirmation, keySource, keyFailure } = provider;
  const needsConfirmation = confirmation !== null;
  const { form, setForm, close } = useForm(isKeyRequested, needsConfirmation);
  const [isRemoving, setRemoving] = useState(false);
  const test = useTestProvider(aiSystem);
  const storedIn = keyFailure === null ? (confirmation?.keySource ?? keySource) : 'keychain';
  const name = providerName(aiSystem);
  const hasKey = keySource !== null;
  // A test reads the key again.
  const isTestable = hasKey || keyFailure !== null;
  const keyButton = useReturnFocus<HTMLButtonElement>(form === 'key' || form === 'address' || needsConfirmation);
  return (
    <div className="provider" role="group" aria-label={name}>
      <div className="provider__row">
        <span className="strong">{name}</span>
        <span className="provider__state">
          <KeyState provider={provider} />
        </span>
        <Detail provider={provider} />
        <span className="provider__actions">
          {form === 'key' || form === 'address' ? (
            <Button size="small" variant="quiet" onClick={close}>
              Cancel
            </Button>
          ) : (
            <>
              {isTestable && (
                <TestButtons
                  name={name}
                  isTesting={test.isPending}
                  onTest={() => test.mutate()}
                  isCapabilityTestOpen={form === 'capabilities'}
                  onCapabilities={() => setForm(form === 'capabilities' ? null : 'capabilities')}
                />
              )}
              <Button ref={keyButton} size="small" onClick={() => setForm('key')}>
                {storedIn === null ? 'Add key' : 'Replace'}
              </Button>
              <IconButton size="small" icon={Globe} label={`Base URL of ${name}`} onClick={() => setForm('address')} />
              {(storedIn === 'keychain' || storedIn === 'memory') && (
                <IconButton
                  size="small"
                  icon={Trash2}
                  label={`Remove API key of ${name}`}
                  onClick={() => setRemoving(true)}
                />
              )}
            </>
          )}
        </span>
      </div>
      {form === 'key' && <KeyForm provider={provider} onDone={close} />}
      {form === 'address' && <AddressForm provider={provider} onDone={close} />}
      {form === null && <ProviderConfirmation provider={provider} hasFocus={isKeyRequested} />}
      {form === 'capabilities' && isTestable && <CapabilityTest owner={{ aiSystem, name }} />}
      {form === null && keyFailure !== null && isFailureShown && <KeyNotice failure={keyFailure} />}
      {form === null && hasKey && <TestNotice test={provider.lastTest} baseAddress={provider.baseAddress} />}
      <RemoveKeyDialog aiSystem={aiSystem} isOpen={isRemoving} onClose={() => setRemoving(false)} />
    </div>
  );
}
