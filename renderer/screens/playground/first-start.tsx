import { Check, ChevronRight, FolderOpen, Info, KeyRound, type LucideIcon, Plug } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { OnDeviceModel } from '../../../shared/contract/on-device.ts';
import { Button } from '../../components/button.tsx';
import { formatBytes, formatPlural } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Dot, Progress, Spinner } from '../../components/badges.tsx';
import { ErrorFailure, LoadingRows, Notice } from '../../components/state-panels.tsx';
import { useInstallOnDevice, useOnDevice, usePauseOnDevice, useRemoveOnDevice } from '../../queries/on-device.ts';
import { keyedProviders } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { useAddEndpoint, useEndpoints } from '../../queries/providers.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { offeredModel } from './session/use-runner.ts';
import './first-start.css';

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

/** Time left in whole seconds or minutes. */
function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  return `${Math.round(seconds / 60)} min left`;
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

const installLabels: Partial<Record<OnDeviceModel['state'], string>> = {
  absent: 'Download',
  paused: 'Resume',
  failed: 'Retry',
};

function Actions({ model }: { model: OnDeviceModel }) {
  const install = useInstallOnDevice();
  const pause = usePauseOnDevice();
  const remove = useRemoveOnDevice();
  const label = installLabels[model.state];
  const isPartial = model.state === 'paused' || model.state === 'failed' || model.state === 'downloading';
  return (
    <>
      {label && (
        <Button
          size="small"
          variant={model.state === 'absent' ? 'primary' : 'default'}
          isBusy={install.isPending}
          onClick={() => install.mutate(model.id)}
        >
          {label}
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
  const isStarted = model.state !== 'absent';
  return (
    <div className="download" role="group" aria-label={`Download of ${model.title}`}>
      <div className="row">
        <span className="strong grow">{model.title}</span>
        {isStarted && fraction !== null && <span className="download__percent">{Math.floor(fraction * 100)}%</span>}
      </div>
      {isStarted && <Progress label={`Download of ${model.title}`} fraction={fraction} />}
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

const titles: Record<OnDeviceModel['state'], string> = {
  absent: 'Start with the on-device model',
  downloading: 'Downloading the on-device model',
  checking: 'Checking the on-device model',
  paused: 'Download of the on-device model paused',
  failed: "Couldn't download the on-device model",
  installed: 'On-device model ready',
};

function lead({ state, title }: OnDeviceModel, isWaiting: boolean): string {
  const name = title.split(',')[0];
  if (isWaiting)
    return 'Your run starts when the model is ready. You can continue writing. Press Esc to cancel the queued run.';
  if (state === 'absent')
    return `${name} runs on this device, without a key and without a network. The model downloads once. Runs you start now begin when the download finishes.`;
  return `${name} runs on this device, without a key and without a network. Runs you start now begin when the download finishes.`;
}

interface ChoiceProps {
  icon: LucideIcon;
  title: string;
  detail: string;
  onClick: () => void;
}

function Choice({ icon, title, detail, onClick }: ChoiceProps) {
  return (
    <button type="button" className="choice" onClick={onClick}>
      <Icon icon={icon} />
      <span>
        <span className="medium">{title}</span>
        <span className="small tertiary">{detail}</span>
      </span>
      <Icon icon={ChevronRight} size="small" />
    </button>
  );
}

/** Other sources of models. A server that was detected on this machine needs one press. */
function OtherModelSources({ onPickModel }: { onPickModel: () => void }) {
  const [, navigate] = useLocation();
  const detected = useEndpoints().data?.found[0];
  const add = useAddEndpoint();
  const connect = (): void => {
    if (!detected) return navigate(settingsAddress('endpoints'));
    add.mutate(
      { name: detected.name, baseAddress: detected.baseAddress },
      { onSuccess: onPickModel, onError: () => navigate(settingsAddress('endpoints')) },
    );
  };
  const endpointDetail = detected
    ? `${detected.name} detected on port ${new URL(detected.baseAddress).port || '80'}, ${formatPlural(detected.models, 'model')}`
    : 'Ollama, LM Studio, vLLM or any OpenAI-compatible server';
  return (
    <div className="first__or">
      <h3 className="section-title">Or use a provider</h3>
      <div className="first__choices">
        <Choice
          icon={KeyRound}
          title="Add a key"
          detail={keyedProviders.map(providerName).join(', ')}
          onClick={() => navigate(settingsAddress('providers'))}
        />
        <Choice icon={Plug} title="Connect an endpoint" detail={endpointDetail} onClick={connect} />
        <Choice
          icon={FolderOpen}
          title="Use a GGUF file"
          detail="From this device, or an hf: address"
          onClick={() => navigate(settingsAddress('on-device'))}
        />
      </div>
    </div>
  );
}

/** How to get a model. Shown instead of the answer until one is ready. */
export function FirstStart({ isWaiting, onPickModel }: { isWaiting: boolean; onPickModel: () => void }) {
  const onDevice = useOnDevice();
  const model = offeredModel(onDevice.data?.models ?? []);
  return (
    <div className="first scroll" tabIndex={0} role="region" aria-label="How to get a model">
      <div className="first__content">
        {onDevice.isPending && <LoadingRows label="Loading the on-device model" />}
        {onDevice.isError && <ErrorFailure title="Couldn't get the on-device model's status" error={onDevice.error} />}
        {model && (
          <>
            <h3 className="page-title">{titles[model.state]}</h3>
            <p className="secondary" role="status">
              {lead(model, isWaiting)}
            </p>
            <DownloadCard model={model} />
            <p className="small tertiary first__note">
              <Icon icon={Info} size="small" />
              <span>{model.note}</span>
            </p>
          </>
        )}
        <OtherModelSources onPickModel={onPickModel} />
      </div>
    </div>
  );
}
