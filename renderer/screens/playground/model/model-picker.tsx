import { Braces, Brain, Check, Image, Search, Wrench, type LucideIcon } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { classNames } from '../../../components/class-names.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { Badge, Dot } from '../../../components/marks.tsx';
import { LoadingRows } from '../../../components/state-panels.tsx';
import type { CompatibleEndpoint, Model, ProviderState } from '../../../../shared/contract/providers.ts';
import { useEndpoints, useTestEndpoint } from '../../../queries/endpoints.ts';
import { useModels } from '../../../queries/models.ts';
import { useProviders } from '../../../queries/providers.ts';
import { settingsAddress } from '../../../shell/addresses.ts';
import { price, shortCount } from '../format.ts';
import { ModelDetail } from './model-detail.tsx';
import { UnknownName } from './unknown-name.tsx';
import {
  groupModels,
  isOnDevice,
  modelKey,
  noFilter,
  readinessOf,
  servicePlace,
  shortName,
  shutdownMark,
} from './model-list.ts';
import type { ModelFilter, ModelGroup } from './model-list.ts';

type Capability = Model['capabilities'][number];
const capabilities: readonly { id: Capability; label: string; icon: LucideIcon }[] = [
  { id: 'tools', label: 'Tools', icon: Wrench },
  { id: 'images', label: 'Reads images', icon: Image },
  { id: 'reasoning', label: 'Reasoning', icon: Brain },
  { id: 'structured-output', label: 'JSON schema', icon: Braces },
];

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
      <Figure value={model.contextTokens === null ? null : shortCount(model.contextTokens)} />
      <Figure value={model.inputPrice === null ? null : price(model.inputPrice)} />
      <Figure value={model.outputPrice === null ? null : price(model.outputPrice)} />
      <span className="models__caps">
        {capabilities.map(({ id, label, icon }) => (
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

function GroupHead({
  group,
  providers,
  endpoints,
  onLeave,
}: {
  group: ModelGroup;
  providers: readonly ProviderState[];
  endpoints: readonly CompatibleEndpoint[];
  onLeave: (address: string) => void;
}) {
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

function FilterBar({
  filter,
  ended,
  onFilter,
}: {
  filter: ModelFilter;
  ended: number;
  onFilter: (change: Partial<ModelFilter>) => void;
}) {
  const toggle = (id: Capability): void => {
    const has = filter.capabilities.includes(id);
    onFilter({
      capabilities: has ? filter.capabilities.filter((other) => other !== id) : [...filter.capabilities, id],
    });
  };
  return (
    <div className="picker__filters" role="group" aria-label="Show only">
      <button
        type="button"
        className="chip"
        aria-pressed={filter.isReadyOnly}
        onClick={() => onFilter({ isReadyOnly: !filter.isReadyOnly })}
      >
        <span>
          <Dot tone="positive" />
        </span>
        <span>Ready</span>
      </button>
      {capabilities.map(({ id, label, icon }) => (
        <button
          key={id}
          type="button"
          className="chip"
          aria-pressed={filter.capabilities.includes(id)}
          onClick={() => toggle(id)}
        >
          <span>
            <Icon icon={icon} size="small" />
          </span>
          <span>{label}</span>
        </button>
      ))}
      <span className="grow" />
      {ended > 0 && (
        <span className="small secondary">
          <Checkbox
            label={`Show ${ended} ended`}
            isChecked={filter.isEndedShown}
            onCheckedChange={(isEndedShown) => onFilter({ isEndedShown })}
          />
        </span>
      )}
    </div>
  );
}

function Foot() {
  return (
    <div className="picker__foot">
      <span className="row">
        <KeyCaps keys="ArrowUp+ArrowDown" /> Move
      </span>
      <span className="row">
        <KeyCaps keys="Enter" /> Choose
      </span>
      <span className="row">
        <KeyCaps keys="Mod+Enter" /> Choose and run
      </span>
      <span className="grow" />
      <span>Prices in US dollars per million tokens</span>
    </div>
  );
}

interface PickerProps {
  /** `modelKey` of the model that is chosen now. */
  chosenKey: string;
  onChoose: (model: Pick<Model, 'aiSystem' | 'name'>) => void;
  onChooseAndRun: (model: Pick<Model, 'aiSystem' | 'name'>) => void;
  onClose: () => void;
}

function useActiveRow(shown: readonly Model[], chosenKey: string, words: string) {
  const [activeKey, setActiveKey] = useState(chosenKey);
  useEffect(() => {
    // Another search begins at its first hit; without one the chosen model is where one was.
    setActiveKey(words === '' ? chosenKey : shown[0] ? modelKey(shown[0]) : '');
  }, [words]);
  const active = shown.find((model) => modelKey(model) === activeKey) ?? shown[0] ?? null;
  const move = (step: number): void => {
    const index = active ? shown.indexOf(active) : -1;
    const next = shown[Math.max(0, Math.min(shown.length - 1, index + step))];
    if (next) setActiveKey(modelKey(next));
  };
  return { active, move, activate: (model: Model) => setActiveKey(modelKey(model)) };
}

/** An endpoint has no models here until it was asked for its list, which costs nothing. */
function useUnaskedEndpoints(endpoints: readonly CompatibleEndpoint[]): void {
  const { mutate } = useTestEndpoint();
  const unasked = endpoints
    .filter(({ lastTest }) => lastTest === null)
    .map(({ name }) => name)
    .join('/');
  useEffect(() => {
    if (unasked !== '') for (const name of unasked.split('/')) mutate(name);
  }, [unasked, mutate]);
}

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 };

function PickerBody({ chosenKey, onChoose, onChooseAndRun, onClose }: PickerProps) {
  const [, navigate] = useLocation();
  const models = useModels();
  const providers = useProviders().data?.data ?? [];
  const endpoints = useEndpoints().data?.data ?? [];
  useUnaskedEndpoints(endpoints);
  const [filter, setFilter] = useState<ModelFilter>(noFilter);
  const all = models.data?.data ?? [];
  const groups = useMemo(() => groupModels(all, filter), [all, filter]);
  const shown = useMemo(() => groups.flatMap((group) => group.models), [groups]);
  const { active, move, activate } = useActiveRow(shown, chosenKey, filter.words);
  const leave = (address: string): void => {
    onClose();
    navigate(address);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined) move(step);
    else if (event.key === 'Enter' && active) (event.ctrlKey || event.metaKey ? onChooseAndRun : onChoose)(active);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div className="picker__search">
        <Icon icon={Search} />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={
            groups[0] &&
            `models-${(groups.find(({ models: members }) => active && members.includes(active)) ?? groups[0]).key}`
          }
          aria-activedescendant={active ? `model-${modelKey(active)}` : undefined}
          aria-label="Filter models"
          placeholder="Type a model or a provider"
          value={filter.words}
          onChange={(event) => setFilter({ ...filter, words: event.target.value })}
          onKeyDown={onKeyDown}
        />
        <span className="small tertiary nowrap" role="status">
          {shown.length} of {all.length} models
        </span>
        <KeyCaps keys="Escape" />
      </div>
      <FilterBar
        filter={filter}
        ended={all.filter(({ hasEnded }) => hasEnded).length}
        onFilter={(change) => setFilter({ ...filter, ...change })}
      />
      <div className="picker__body">
        <div className="models scroll">
          <div className="models__row models__head" aria-hidden="true">
            <span />
            <span>Model</span>
            <span className="models__number">Context</span>
            <span className="models__number">$ in /1M</span>
            <span className="models__number">$ out /1M</span>
            <span>Takes</span>
            <span />
          </div>
          {models.isPending && <LoadingRows label="Loading the models" rows={6} />}
          {!models.isPending && shown.length === 0 && (
            <UnknownName
              words={filter.words}
              providers={providers}
              endpoints={endpoints}
              onAdded={(aiSystem, name) => onChoose({ aiSystem, name })}
            />
          )}
          {groups.map((group) => (
            <section key={group.key} aria-label={group.title}>
              <GroupHead group={group} providers={providers} endpoints={endpoints} onLeave={leave} />
              <div id={`models-${group.key}`} role="listbox" aria-label={`Models of ${group.title}`}>
                {group.models.map((model) => (
                  <ModelRow
                    key={modelKey(model)}
                    model={model}
                    words={filter.words}
                    isActive={model === active}
                    isChosen={modelKey(model) === chosenKey}
                    onActivate={() => activate(model)}
                    onChoose={() => onChoose(model)}
                  />
                ))}
              </div>
            </section>
          ))}
        </div>
        {active && <ModelDetail model={active} models={all} onPick={activate} onLeave={leave} />}
      </div>
      <Foot />
    </>
  );
}

/** Every model by provider, to be typed into. */
export function ModelPicker({ isOpen, ...props }: PickerProps & { isOpen: boolean }) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className="overlay picker" aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Choose a model</Dialog.Title>
          <PickerBody {...props} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
