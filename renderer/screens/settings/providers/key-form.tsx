import { ClipboardPaste } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import type { ProviderState } from '../../../../shared/contract/providers.ts';
import { Button } from '../../../components/button.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useSetProviderKey } from '../../../queries/providers.ts';

const visibleAscii = /^[\x21-\x7e]+$/;

/** What keeps a key from being sent, for people; null when nothing does. */
export function keyProblem(key: string): string | null {
  if (key === '') return 'Paste the key first.';
  if (!visibleAscii.test(key)) return 'A key has no spaces and no accented letters. Copy it again from its page.';
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
      setProblem('The clipboard may not be read here. Paste with the keyboard.');
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
        label={`API key of ${provider.aiSystem}`}
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
        From{' '}
        <a href={provider.keyPage} target="_blank" rel="noreferrer">
          {new URL(provider.keyPage).hostname}
        </a>
        . The test asks only for the list of models and costs nothing.
      </p>
    </form>
  );
}
