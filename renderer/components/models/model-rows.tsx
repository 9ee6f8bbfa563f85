import { Check } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { CompatibleEndpoint, Model, ProviderState } from '../../../shared/contract/providers.ts';
import { Button } from '../button.tsx';
import { classNames } from '../class-names.ts';
import { formatPrice, formatTokenCount } from '../format.ts';
import { Icon } from '../icon.tsx';
import { Badge, Dot } from '../marks.tsx';
import { settingsAddress } from '../../shell/addresses.ts';
import { isOnDevice, modelKey, readinessOf, servicePlace, shortName, shutdownMark } from './model-list.ts';
import type { ModelGroup } from './model-list.ts';
import { shownCapabilities } from './shown-capabilities.ts';

/** The letters that were searched for stand out in the name. */
function Name({ name, words }: { name: string; words: string }) {
  const word = words
    .toLowerCase()
    .split(/\s+/)
    .find((candidate) => candidate !== '' && name.toLowerCase().includes(candidate));
  const at = word ? name.toLowerCase().indexOf(word) : -1;
  if (!word || at < 0) return <>{name}</>;
  return (
    <>
      {name.slice(0, at)}
      <mark>{name.slice(at, at + word.length)}</mark>
      {name.slice(at + word.length)}
    </>
  );
}

function Note({ model }: { model: Model }) {
  const mark = shutdownMark(model, new Date());
  if (mark) return <Badge tone={mark.tone}>{mark.text}</Badge>;
  if (model.aiSystem !== 'ServiceAi') return null;
  const place = servicePlace(model);
  return (
    <span className="caption tertiary truncate">
      {isOnDevice(model) ? 'Runs on this device' : place[0]?.toUpperCase() + place.slice(1)}
    </span>
  );
}

function Figure({ value }: { value: string | null }) {
  return <span className="models__number">{value ?? '–'}</span>;
}

/** One model of the list. */
function ModelRow({
  model,
  isActive,
  isChosen,
  words,
  onActivate,
  onChoose,
}: {
  model: Model;
  isActive: boolean;
  isChosen: boolean;
  words: string;
  onActivate: () => void;
  onChoose: () => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    <div
      ref={row}
      id={`model-${modelKey(model)}`}
      role="option"
      aria-selected={isActive}
      className={classNames('models__row', isActive && 'is-selected', !model.isReady && 'is-off')}
      onPointerMove={onActivate}
      onClick={onChoose}
    >
      <span className="models__check">{isChosen && <Icon icon={Check} size="small" />}</span>
      <span className="models__name truncate" title={model.name}>
        <Name name={shortName(model)} words={words} />
        <span className="visually-hidden">
          {isChosen ? ', chosen' : ''}
          {model.isReady ? '' : ', not ready'}
        </span>
      </span>
      <Figure value={model.contextTokens === null ? null : formatTokenCount(model.contextTokens)} />
      <Figure value={model.inputPrice === null ? null : formatPrice(model.inputPrice)} />
      <Figure value={model.outputPrice === null ? null : formatPrice(model.outputPrice)} />
      <span className="models__caps">
        {shownCapabilities.map(({ id, label, icon }) => (
          <span key={id} title={label}>
            {model.capabilities.includes(id) && <Icon icon={icon} size="small" />}
          </span>
        ))}
      </span>
      <span className="models__note">
        <Note model={model} />
      </span>
    </div>
  );
}

interface GroupHeadProps {
  group: ModelGroup;
  providers: readonly ProviderState[];
  endpoints: readonly CompatibleEndpoint[];
  onLeave: (address: string) => void;
}

/** The provider of the models below, whether they can run, and the way to make them. */
function GroupHead({ group, providers, endpoints, onLeave }: GroupHeadProps) {
  const { isReady, text } = readinessOf(group, providers, endpoints);
  const isEndpoint = group.aiSystem === 'OpenAiCompatible';
  return (
    <div className="models__group">
      <span className="strong">{group.title}</span>
      {isReady ? (
        <span className="row caption tertiary key-state">
          {group.aiSystem !== 'ServiceAi' && !isEndpoint && <Dot tone="positive" />}
          {text}
        </span>
      ) : (
        <Badge tone="caution">{text}</Badge>
      )}
      <span className="grow" />
      {!isReady && (
        <Button size="small" onClick={() => onLeave(settingsAddress(isEndpoint ? 'endpoints' : 'providers'))}>
          {isEndpoint ? 'Open endpoint' : text === 'Key refused' ? 'Replace key' : 'Add key'}
        </Button>
      )}
    </div>
  );
}

interface GroupRowsProps extends GroupHeadProps {
  /** What was searched for. */
  words: string;
  active: Model | null;
  /** `modelKey` of the model that is chosen now. */
  chosenKey: string;
  onActivate: (model: Model) => void;
  onChoose: (model: Model) => void;
}

/** The models of one provider or endpoint, below its name. */
export function GroupRows({ words, active, chosenKey, onActivate, onChoose, ...head }: GroupRowsProps) {
  const { group } = head;
  return (
    <section aria-label={group.title}>
      <GroupHead {...head} />
      <div id={`models-${group.key}`} role="listbox" aria-label={`Models of ${group.title}`}>
        {group.models.map((model) => (
          <ModelRow
            key={modelKey(model)}
            model={model}
            words={words}
            isActive={model === active}
            isChosen={modelKey(model) === chosenKey}
            onActivate={() => onActivate(model)}
            onChoose={() => onChoose(model)}
          />
        ))}
      </div>
    </section>
  );
}

/** What the columns of every group hold. */
export function ColumnNames() {
  return (
    <div className="models__row models__head" aria-hidden="true">
      <span />
      <span>Model</span>
      <span className="models__number">Context</span>
      <span className="models__number">$ in /1M</span>
      <span className="models__number">$ out /1M</span>
      <span>Takes</span>
      <span />
    </div>
  );
}
