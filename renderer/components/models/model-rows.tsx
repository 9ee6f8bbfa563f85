import { Check, ChevronDown, ChevronRight, Star } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { CompatibleEndpoint, Model, ProviderState } from '../../../shared/contract/providers.ts';
import { Button } from '../button.tsx';
import { classNames } from '../class-names.ts';
import { formatPlural, formatPrice, formatTokenCount } from '../format.ts';
import { Icon } from '../icon.tsx';
import { Badge, Dot } from '../badges.tsx';
import { accessAddress } from '../remedies.ts';
import { toggleFavourite, useModelChoices } from '../../stores/model-choices.ts';
import {
  isOnDevice,
  lackOf,
  modelFamilies,
  type ModelGroup,
  modelKey,
  type ModelNeeds,
  readinessOf,
  serviceLocation,
  shortName,
  shownCapabilities,
  shutdownBadge,
} from './model-list.ts';
import { useToday } from '../use-today.ts';

/** Highlights the search term in the name. */
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

function Note({ model, reason }: { model: Model; reason: string | null }) {
  const today = useToday();
  if (reason !== null)
    return (
      <span className="caption caution truncate" title={reason}>
        {reason}
      </span>
    );
  const badge = shutdownBadge(model, today);
  if (badge) return <Badge tone={badge.tone}>{badge.text}</Badge>;
  if (model.aiSystem !== 'ServiceAi') return null;
  const location = serviceLocation(model);
  return (
    <span className="caption tertiary truncate">
      {isOnDevice(model) ? 'Runs on this device' : location[0]?.toUpperCase() + location.slice(1)}
    </span>
  );
}

function Figure({ value }: { value: string | null }) {
  return <span className="models__number">{value ?? '–'}</span>;
}

/** A span, because an option can't contain a button. The picker's keys do the same. */
function FavouriteToggle({ model, isFavourite }: { model: Model; isFavourite: boolean }) {
  return (
    <span
      aria-hidden="true"
      title={isFavourite ? 'Remove from favourites' : 'Add to favourites'}
      className={classNames('models__star', isFavourite && 'is-on')}
      onClick={(event) => {
        event.stopPropagation();
        toggleFavourite(model);
      }}
    >
      <Icon icon={Star} size="small" />
    </span>
  );
}

function Copies({ count, isOpen, onToggle }: { count: number; isOpen: boolean; onToggle: () => void }) {
  return (
    <span
      className="row caption tertiary nowrap models__copies"
      title={formatPlural(count, 'dated version')}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      <Icon icon={isOpen ? ChevronDown : ChevronRight} size="tiny" />
      {count} dated
    </span>
  );
}

interface NameCellProps {
  model: Model;
  isChosen: boolean;
  isFavourite: boolean;
  /** The dated copies below the model; null for a copy. */
  copies: { count: number; isOpen: boolean; onToggle: () => void } | null;
  /** The search terms. */
  words: string;
}

function NameCell({ model, isChosen, isFavourite, copies, words }: NameCellProps) {
  return (
    <span className="models__name" title={model.name}>
      <span className="truncate">
        <Name name={shortName(model)} words={words} />
        <span className="visually-hidden">
          {isChosen ? ', chosen' : ''}
          {isFavourite ? ', favourite' : ''}
          {model.isReady ? '' : ', not ready'}
        </span>
      </span>
      {copies !== null && copies.count > 0 && <Copies {...copies} />}
      <FavouriteToggle model={model} isFavourite={isFavourite} />
    </span>
  );
}

interface ModelRowProps extends NameCellProps {
  /** What the model lacks for the prompt; null if nothing. */
  reason: string | null;
  isActive: boolean;
  onActivate: () => void;
  onChoose: () => void;
}

/** One model of the list. */
function ModelRow({ isActive, reason, onActivate, onChoose, ...name }: ModelRowProps) {
  const { model, isChosen, copies } = name;
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
      className={classNames(
        'models__row',
        isActive && 'is-selected',
        (!model.isReady || reason !== null) && 'is-off',
        copies === null && 'is-copy',
      )}
      onPointerMove={onActivate}
      onClick={onChoose}
    >
      <span className="models__check">{isChosen && <Icon icon={Check} size="small" />}</span>
      <NameCell {...name} />
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
        <Note model={model} reason={reason} />
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

/** The provider of the models below, its state, and the button that makes it ready. */
function GroupHead({ group, providers, endpoints, onLeave }: GroupHeadProps) {
  if (group.aiSystem === null) {
    return (
      <div className="models__group">
        <span className="strong">{group.title}</span>
      </div>
    );
  }
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
        <Button size="small" onClick={() => onLeave(accessAddress(group.aiSystem ?? 'ServiceAi'))}>
          {isEndpoint ? 'Open endpoint' : text === 'Key rejected' ? 'Replace key' : 'Add key'}
        </Button>
      )}
    </div>
  );
}

interface GroupRowsProps extends GroupHeadProps {
  /** The search terms. */
  words: string;
  active: Model | null;
  /** `modelKey` of the selected model. */
  chosenKey: string;
  needs: ModelNeeds;
  /** `modelKey` of the models whose dated copies are shown. */
  openKeys: ReadonlySet<string>;
  onToggleCopies: (model: Model) => void;
  onActivate: (model: Model) => void;
  onChoose: (model: Model) => void;
}

/** The models of one provider or endpoint, below its name. */
export function GroupRows(props: GroupRowsProps) {
  const { words, active, chosenKey, needs, openKeys, onToggleCopies, onActivate, onChoose, ...head } = props;
  const { group } = head;
  const favourites = useModelChoices((choices) => choices.favourites);
  const row = (model: Model, copies: NameCellProps['copies']) => (
    <ModelRow
      key={modelKey(model)}
      model={model}
      words={words}
      copies={copies}
      reason={lackOf(model, needs)}
      isActive={model === active}
      isChosen={modelKey(model) === chosenKey}
      isFavourite={favourites.some(({ aiSystem, name }) => aiSystem === model.aiSystem && name === model.name)}
      onActivate={() => onActivate(model)}
      onChoose={() => onChoose(model)}
    />
  );
  return (
    <section aria-label={group.title}>
      <GroupHead {...head} />
      <div id={`models-${group.key}`} role="listbox" aria-label={`Models of ${group.title}`}>
        {modelFamilies(group.models).flatMap(({ model, copies }) => {
          const isOpen = openKeys.has(modelKey(model));
          const onToggle = (): void => onToggleCopies(model);
          return [
            row(model, { count: copies.length, isOpen, onToggle }),
            ...(isOpen ? copies.map((copy) => row(copy, null)) : []),
          ];
        })}
      </div>
    </section>
  );
}

/** The column headings of all groups. */
export function ColumnNames() {
  return (
    <div className="models__row models__head" aria-hidden="true">
      <span />
      <span>Model</span>
      <span className="models__number">Context</span>
      <span className="models__number">$ in /1M</span>
      <span className="models__number">$ out /1M</span>
      <span>Supports</span>
      <span />
    </div>
  );
}
