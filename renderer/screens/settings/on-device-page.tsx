import { FolderOpen } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { chooseModelFile } from '../../../shared/contract/host-specific.ts';
import { Button } from '../../components/button.tsx';
import { describeError, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useCapability, useHost } from '../../host/host-context.tsx';
import { useAddOnDevice, useOnDevice } from '../../queries/on-device.ts';
import { showToast } from '../../stores/toasts.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { SettingsPage, SettingsSection } from './settings-page.tsx';
import { ModelCard } from './on-device-model.tsx';

/** Adds a model outside the catalogue: a GGUF file of this machine, or an `hf:` address. */
function AddModelForm() {
  const [address, setAddress] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const add = useAddOnDevice();
  const { client } = useHost();
  const hasDialog = useCapability('native-dialogs');
  const addAddress = (next: string) => add.mutate(next, { onSuccess: () => setAddress('') });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (address.trim() === '')
      setProblem('Enter the path of a GGUF file or an address such as hf:owner/repository/file.gguf');
    else addAddress(address.trim());
  };
  const choose = async () => {
    try {
      const { path } = await client.call(chooseModelFile);
      if (path !== null) addAddress(path);
    } catch (error) {
      showToast({ tone: 'negative', ...toastOf(error) });
    }
  };
  return (
    <form className="settings__form" onSubmit={submit}>
      <TextField
        label="GGUF file path or hf: address"
        isMono
        placeholder="hf:bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M"
        hint={
          add.isSuccess && address === ''
            ? 'Added to the list above'
            : 'Files are used in place. Models from hf: addresses are added to the list; you start the download.'
        }
        value={address}
        error={problem ?? (add.error ? describeError(add.error).message : null)}
        onValueChange={(next) => {
          setAddress(next);
          setProblem(null);
          add.reset();
        }}
      />
      <div className="row">
        <Button type="submit" isBusy={add.isPending}>
          Add model
        </Button>
        {hasDialog && (
          <Button variant="quiet" icon={FolderOpen} onClick={() => void choose()}>
            Choose file
          </Button>
        )}
      </div>
    </form>
  );
}

function toastOf(error: unknown): { text: string; requestId: string | undefined } {
  const { message, requestId } = describeError(error);
  return { text: message, requestId };
}

/** On-device models, their downloads, and the form that adds one. */
export function OnDevicePage() {
  const onDevice = useOnDevice();
  return (
    <SettingsPage
      title="On-device models"
      lead={
        <>
          On-device models run locally. They need no key, and no network after the download. The default one answers for
          the{' '}
          <Link href={settingsAddress('service-models')} className="link">
            built-in models
          </Link>{' '}
          that are routed to this device.
        </>
      }
    >
      <div className="card">
        <QueryView query={onDevice} subject="the on-device models" rows={4}>
          {({ models, engine }) => models.map((model) => <ModelCard key={model.id} model={model} engine={engine} />)}
        </QueryView>
      </div>
      <SettingsSection title="Add your own model">
        <div className="card">
          <AddModelForm />
        </div>
      </SettingsSection>
    </SettingsPage>
  );
}
