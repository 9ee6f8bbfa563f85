import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { OnDeviceModel } from '../../../../shared/contract/on-device.ts';
import { Button } from '../../../components/button.tsx';
import { formatBytes } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Dot, Spinner } from '../../../components/marks.tsx';
import { Progress } from '../../../components/progress.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { useInstallOnDevice, usePauseOnDevice, useRemoveOnDevice } from '../../../queries/on-device.ts';
import { timeLeft } from '../format.ts';

type StepState = 'done' | 'current' | 'ahead';

function Step({ name, state, children }: { name: string; state: StepState; children: ReactNode }) {
  return (
    <li
      className={state === 'current' ? 'is-current' : undefined}
      aria-current={state === 'current' ? 'step' : undefined}
    >
      {state === 'current' ? <Spinner /> : state === 'done' ? <Icon icon={Check} size="tiny" /> : <Dot tone="hollow" />}
      {name}
      <span className="tertiary truncate">{children}</span>
    </li>
  );
}

function Steps({ model }: { model: OnDeviceModel }) {
  const { state, step, sha256, memoryBytes } = model;
  const isHere = state === 'checking' || state === 'installed';
  return (
    <ol className="download__steps">
      <Step name="Download" state={isHere ? 'done' : state === 'downloading' ? 'current' : 'ahead'}>
        {(!isHere && step) || (model.bytes === null ? 'Size shown when the download starts' : formatBytes(model.bytes))}
      </Step>
      <Step name="Check SHA-256" state={state === 'checking' ? 'current' : state === 'installed' ? 'done' : 'ahead'}>
        <span className="mono--small">
          {sha256 ? `${sha256.slice(0, 8)}…${sha256.slice(-8)}` : 'Known after the download starts'}
        </span>
      </Step>
      <Step name="Load" state="ahead">
        {memoryBytes === null ? 'With the first run' : `about ${formatBytes(memoryBytes)} of memory`}
      </Step>
    </ol>
  );
}

function Amounts({ model }: { model: OnDeviceModel }) {
  const { state, bytes, receivedBytes, bytesPerSecond } = model;
  if (state === 'absent') return <span>{bytes === null ? '' : formatBytes(bytes)}</span>;
  const left = bytes !== null && bytesPerSecond ? (bytes - receivedBytes) / bytesPerSecond : null;
  return (
    <>
      <span>
        {bytes === null ? formatBytes(receivedBytes) : `${formatBytes(receivedBytes)} of ${formatBytes(bytes)}`}
      </span>
      {state === 'downloading' && bytesPerSecond !== null && (
        <span className="tertiary">{formatBytes(bytesPerSecond)}/s</span>
      )}
      {state === 'downloading' && left !== null && <span className="tertiary">{timeLeft(left)}</span>}
      {state === 'paused' && <span className="tertiary">Paused</span>}
    </>
  );
}

const installWords: Partial<Record<OnDeviceModel['state'], string>> = {
  absent: 'Download',
  paused: 'Resume',
  failed: 'Retry',
};

function Actions({ model }: { model: OnDeviceModel }) {
  const install = useInstallOnDevice();
  const pause = usePauseOnDevice();
  const remove = useRemoveOnDevice();
  const word = installWords[model.state];
  const isPartial = model.state === 'paused' || model.state === 'failed' || model.state === 'downloading';
  return (
    <>
      {word && (
        <Button
          size="small"
          variant={model.state === 'absent' ? 'primary' : 'default'}
          isBusy={install.isPending}
          onClick={() => install.mutate(model.id)}
        >
          {word}
        </Button>
      )}
      {model.state === 'downloading' && (
        <Button size="small" isBusy={pause.isPending} onClick={() => pause.mutate(model.id)}>
          Pause
        </Button>
      )}
      {isPartial && (
        <Button size="small" isBusy={remove.isPending} onClick={() => remove.mutate(model.id)}>
          Stop
        </Button>
      )}
    </>
  );
}

/** Progress and speed of the on-device model's download, with its buttons. */
export function DownloadCard({ model }: { model: OnDeviceModel }) {
  const fraction = model.bytes === null ? null : model.receivedBytes / model.bytes;
  const isBegun = model.state !== 'absent';
  return (
    <div className="download" role="group" aria-label={`Download of ${model.title}`}>
      <div className="row">
        <span className="strong grow">{model.title}</span>
        {isBegun && fraction !== null && <span className="download__percent">{Math.floor(fraction * 100)}%</span>}
      </div>
      {isBegun && <Progress label={`Download of ${model.title}`} fraction={fraction} />}
      <div className="row small nowrap numbers">
        <Amounts model={model} />
        <span className="grow" />
        <Actions model={model} />
      </div>
      {model.state === 'failed' && model.failure && <Notice tone="negative">{model.failure}</Notice>}
      <Steps model={model} />
    </div>
  );
}
