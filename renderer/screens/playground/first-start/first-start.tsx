import './first-start.css';
import { ChevronRight, FolderOpen, Info, KeyRound, Plug, type LucideIcon } from 'lucide-react';
import { useLocation } from 'wouter';
import { keyedProviders } from '../../../../shared/contract/common.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import type { OnDeviceModel } from '../../../../shared/contract/on-device.ts';
import { formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { ErrorFailure, LoadingRows } from '../../../components/state-panels.tsx';
import { useAddEndpoint, useEndpoints } from '../../../queries/endpoints.ts';
import { useOnDevice } from '../../../queries/on-device.ts';
import { settingsAddress } from '../../../shell/addresses.ts';
import { DownloadCard } from './download-card.tsx';

/** The model that is offered: the one under way, or the one that the catalogue puts first. */
export function offeredModel(models: readonly OnDeviceModel[]): OnDeviceModel | null {
  const begun = models.find(({ state }) => state !== 'absent' && state !== 'installed');
  return begun ?? models.find(({ source }) => source === 'packages') ?? models[0] ?? null;
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

/** The other ways to a model. A server that was found on this machine is one press away. */
function OtherWays({ onPickModel }: { onPickModel: () => void }) {
  const [, navigate] = useLocation();
  const found = useEndpoints().data?.found[0];
  const add = useAddEndpoint();
  const connect = (): void => {
    if (!found) return navigate(settingsAddress('endpoints'));
    add.mutate(
      { name: found.name, baseAddress: found.baseAddress },
      { onSuccess: onPickModel, onError: () => navigate(settingsAddress('endpoints')) },
    );
  };
  const endpointDetail = found
    ? `${found.name} detected on port ${new URL(found.baseAddress).port || '80'}, ${formatPlural(found.models, 'model')}`
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

/** Shown instead of the answer until a model is ready: how to get one. */
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
        <OtherWays onPickModel={onPickModel} />
      </div>
    </div>
  );
}
