import { useState, type FormEvent } from 'react';
import { baseAddress as baseAddressSchema, type ProviderState } from '../../../../shared/contract/providers.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import { Button } from '../../../components/button.tsx';
import { describeError } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useUpdateProvider } from '../../../queries/providers.ts';
import { encryptionCaution } from './address-confirmation.tsx';

/** Sets where a provider is reached, for people behind a gateway. The address includes the version, as in `https://host/v1`. */
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
