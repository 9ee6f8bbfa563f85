import { ClipboardPaste } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { ProviderState } from '../../../../shared/contract/providers.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import { Button } from '../../../components/button.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useSetProviderKey } from '../../../queries/providers.ts';
import { encryptionCaution } from './address-confirmation.tsx';

const visibleAscii = /^[\x21-\x7e]+$/;

/** What keeps a key from being sent, for people; null when nothing does. */
export function keyProblem(key: string): string | null {
  if (key === '') return 'Enter a key';
  if (!visibleAscii.test(key)) return 'Keys contain no spaces or accented letters. Copy the key again.';
  return null;
}

function canPaste(): boolean {
  return typeof navigator.clipboard?.readText === 'function' && window.isSecureContext;
}

/** Sets a key: pasted, kept, tested. It leaves this field only towards the host and is never shown again. */
export function KeyForm({ provider, onDone }: { provider: ProviderState; onDone: () => void }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const save = useSetProviderKey(provider.aiSystem);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = keyProblem(key);
    setProblem(found);
    if (found === null) save.mutate(key, { onSuccess: onDone });
  };
  const paste = async () => {
    try {
      setKey((await navigator.clipboard.readText()).trim());
    } catch {
      setProblem("Couldn't read the clipboard. Paste with the keyboard.");
    }
  };
  const refusal = save.error ? describeError(save.error).message : null;
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
        error={problem ?? refusal}
        onValueChange={(next) => {
          setKey(next.trim());
          setProblem(null);
        }}
        end={canPaste() && <IconButton icon={ClipboardPaste} label="Paste" size="small" onClick={() => void paste()} />}
      />
      <Button type="submit" variant="primary" keys="Enter" isBusy={save.isPending}>
        Save and test
      </Button>
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
    </form>
  );
}
