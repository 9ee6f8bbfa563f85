import { Download, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { OnDeviceModel } from '../../../../shared/contract/on-device.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { formatBytes } from '../../../components/format.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import {
  useInstallOnDevice,
  usePauseOnDevice,
  useRemoveOnDevice,
  useSelectOnDevice,
} from '../../../queries/on-device.ts';

/** Ends a fetch and deletes what is here of it. */
function StopButton({ model, label = 'Stop' }: { model: OnDeviceModel; label?: string }) {
  const remove = useRemoveOnDevice();
  return (
    <Button size="small" isBusy={remove.isPending} onClick={() => remove.mutate(model.id)}>
      {label}
    </Button>
  );
}

function InstalledActions({ model }: { model: OnDeviceModel }) {
  const [isRemoving, setRemoving] = useState(false);
  const select = useSelectOnDevice();
  const remove = useRemoveOnDevice();
  return (
    <>
      {!model.isSelected && (
        <Button size="small" isBusy={select.isPending} onClick={() => select.mutate(model.id)}>
          Make default
        </Button>
      )}
      <IconButton size="small" icon={Trash2} label={`Remove ${model.title}`} onClick={() => setRemoving(true)} />
      <ConfirmDialog
        title={`Remove ${model.title}?`}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        action="Remove model"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate(model.id, { onSettled: () => setRemoving(false) })}
      >
        {model.bytes !== null && `Frees ${formatBytes(model.bytes)}. `}
        {model.isSelected && 'Built-in models use it. Their runs fail until you choose another model. '}
        {model.source === 'file' ? 'Your file is not deleted.' : 'You can download it again.'}
      </ConfirmDialog>
    </>
  );
}

/** What can be done with a model in its present state. */
export function ModelActions({ model }: { model: OnDeviceModel }) {
  const install = useInstallOnDevice();
  const pause = usePauseOnDevice();
  const fetchButton = (label: string, isPrimary = false) => (
    <Button
      size="small"
      variant={isPrimary ? 'primary' : 'default'}
      icon={Download}
      isBusy={install.isPending}
      onClick={() => install.mutate(model.id)}
    >
      {label}
    </Button>
  );
  switch (model.state) {
    case 'absent':
      return fetchButton(
        model.bytes === null ? 'Download' : `Download ${formatBytes(model.bytes)}`,
        model.source === 'packages',
      );
    case 'downloading':
      return (
        <>
          <Button size="small" isBusy={pause.isPending} onClick={() => pause.mutate(model.id)}>
            Pause
          </Button>
          <StopButton model={model} />
        </>
      );
    case 'checking':
      return <StopButton model={model} />;
    case 'paused':
      return (
        <>
          {fetchButton('Resume', true)}
          <StopButton model={model} />
        </>
      );
    case 'failed':
      return (
        <>
          {fetchButton('Retry', true)}
          <StopButton model={model} label="Discard" />
        </>
      );
    case 'installed':
      return <InstalledActions model={model} />;
  }
}
