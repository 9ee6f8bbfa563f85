import { CalendarX2 } from 'lucide-react';
import { Button } from '../button.tsx';
import { Icon } from '../icon.tsx';
import { Notice } from '../state-panels.tsx';
import type { Model } from '../../../shared/contract/providers.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { settingsAddress } from '../../shell/addresses.ts';
import { accessAddress, servingModel } from '../remedies.ts';
import { modelLocation, runsOnDevice, shortName, shutdownBadge } from './model-list.ts';
import { formatDate, formatPrice } from '../format.ts';
import { useToday } from '../use-today.ts';

interface DetailProps {
  model: Model;
  models: readonly Model[];
  /** Moves to another model of the list. */
  onPick: (model: Model) => void;
  onLeave: (address: string) => void;
}

function Shutdown({ model, models, onPick }: Omit<DetailProps, 'onLeave'>) {
  const today = useToday();
  const badge = shutdownBadge(model, today);
  if (!badge || model.shutdownDate === null) return null;
  const replacement = models.find(({ aiSystem, name }) => aiSystem === model.aiSystem && name === model.replacement);
  const isOver = badge.days < 0 || model.hasEnded;
  return (
    <div className={`notice notice--${badge.tone}`}>
      <Icon icon={CalendarX2} size="small" />
      <p>
        <strong>
          {isOver ? 'Retired' : 'Retires'} on {formatDate(model.shutdownDate)}
        </strong>
        {isOver ? '.' : `, in ${badge.days} days.`}
        {model.replacement && (
          <>
            {' '}
            Replacement:{' '}
            {replacement ? (
              <button type="button" className="link" onClick={() => onPick(replacement)}>
                {model.replacement}
              </button>
            ) : (
              model.replacement
            )}
          </>
        )}
      </p>
    </div>
  );
}

function Detail({ name, value }: { name: string; value: string | null }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? 'Unknown'}</dd>
    </div>
  );
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function Readiness({ model, onLeave }: Pick<DetailProps, 'model' | 'onLeave'>) {
  if (model.isReady || model.hasEnded) return null;
  // A routed built-in model depends on the provider that it is routed to.
  const { aiSystem } = servingModel({ ...model, model: model.name });
  const page = aiSystem === 'ServiceAi' ? 'on-device' : aiSystem === 'OpenAiCompatible' ? 'endpoints' : 'providers';
  const text = {
    'on-device': "The on-device model isn't downloaded.",
    endpoints: "The endpoint isn't reachable.",
    providers: `No API key for ${providerName(aiSystem)}.`,
  }[page];
  const action = { 'on-device': 'Download model', endpoints: 'Open endpoint', providers: 'Add key' }[page];
  const address = page === 'on-device' ? settingsAddress(page) : accessAddress(aiSystem);
  return (
    <Notice>
      <p>{text}</p>
      <Button size="small" onClick={() => onLeave(address)}>
        {action}
      </Button>
    </Notice>
  );
}

/** The details that help to choose a model. */
export function ModelDetail(props: DetailProps) {
  const { model } = props;
  const taken = model.parameters.filter(({ isAccepted }) => isAccepted).map(({ name }) => name);
  const unsupported = model.parameters.filter(({ isAccepted }) => !isAccepted).map(({ name }) => name);
  const dollars = (value: number | null): string | null => (value === null ? null : `$${formatPrice(value)}`);
  return (
    <aside className="picker__detail panel--inset line-left" aria-label={`About ${model.name}`} tabIndex={0}>
      <h3 className="strong">{shortName(model)}</h3>
      <p className="small tertiary">{modelLocation(model)}</p>
      <Shutdown {...props} />
      <Readiness {...props} />
      <dl className="facts facts--loose">
        <Detail name="Context" value={model.contextTokens?.toLocaleString('en') ?? null} />
        <Detail name="Max output" value={model.outputTokens?.toLocaleString('en') ?? null} />
        {runsOnDevice(model) ? (
          <Detail name="Price per 1M" value="Free (on device)" />
        ) : (
          <>
            <Detail name="Input per 1M" value={dollars(model.inputPrice)} />
            <Detail name="Output per 1M" value={dollars(model.outputPrice)} />
          </>
        )}
      </dl>
      {model.parameters.length > 0 && <h4 className="section-title">Parameters</h4>}
      {taken.length > 0 && <p className="small secondary">Supports {listed(taken)}</p>}
      {unsupported.length > 0 && <p className="small tertiary">Doesn't support {listed(unsupported)}</p>}
    </aside>
  );
}
