import { Plus, Search } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { CompatibleEndpoint, Model } from '../../../shared/contract/providers.ts';
import { Icon } from '../icon.tsx';
import { KeyCaps } from '../key-caps.tsx';
import { ModalLayer } from '../dialog.tsx';
import { describeError, LoadingRows } from '../state-panels.tsx';
import { useAddModel, useEndpoints, useModels, useProviders, useTestEndpoint } from '../../queries/providers.ts';
import { ModelDetail } from './model-detail.tsx';
import { toggleFavourite, useModelChoices } from '../../stores/model-choices.ts';
import {
  groupModels,
  modelFamilies,
  type ModelFilter,
  type ModelGroup,
  modelKey,
  type ModelNeeds,
  noFilter,
  noNeeds,
  withShortcuts,
} from './model-list.ts';
import { ColumnNames, GroupRows } from './model-rows.tsx';
import { FilterBar, PickerFoot } from './picker-filters.tsx';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Button } from '../button.tsx';
import './models.css';

interface UnknownNameProps {
  words: string;
  onAdded: (aiSystem: AiSystem, name: string) => void;
}

/** Shown when no model matches. The name may be too new for every list, so it can be added to a provider or an endpoint. */
function UnknownName({ words, onAdded }: UnknownNameProps) {
  const providers = useProviders().data?.data ?? [];
  const endpoints = useEndpoints().data?.data ?? [];
  const add = useAddModel();
  const name = words.trim();
  const homes: { aiSystem: AiSystem; model: string; title: string }[] = [
    ...providers
      .filter(({ keySource }) => keySource !== null)
      .map(({ aiSystem }) => ({ aiSystem, model: name, title: providerName(aiSystem) })),
    ...endpoints.map((endpoint) => ({
      aiSystem: 'OpenAiCompatible' as const,
      model: name.startsWith(`${endpoint.name}/`) ? name : `${endpoint.name}/${name}`,
      title: endpoint.name,
    })),
  ];
  if (name === '' || homes.length === 0) {
    return <p className="picker__empty secondary">No matching models. Remove a filter or add a provider.</p>;
  }
  return (
    <div className="picker__empty">
      <p className="secondary">Not in the catalogue. Use it anyway with:</p>
      <div className="row picker__homes">
        {homes.map(({ aiSystem, model, title }) => (
          <Button
            key={title}
            icon={Plus}
            size="small"
            isBusy={add.isPending && add.variables.aiSystem === aiSystem && add.variables.model === model}
            onClick={() => add.mutate({ aiSystem, model }, { onSuccess: () => onAdded(aiSystem, model) })}
          >
            {title}
          </Button>
        ))}
      </div>
      {add.error && <p className="small negative">{describeError(add.error).message}</p>}
    </div>
  );
}

interface PickerProps {
  /** `modelKey` of the selected model. */
  chosenKey: string;
  /** Of the prompt; models that lack something are grey. */
  needs?: ModelNeeds;
  onChoose: (model: Pick<Model, 'aiSystem' | 'name'>) => void;
  onChooseAndRun: (model: Pick<Model, 'aiSystem' | 'name'>) => void;
  onClose: () => void;
}

function useActiveRow(shown: readonly Model[], chosenKey: string, words: string) {
  // A new search selects its first match; without one, the selected model is active.
  const [moved, setMoved] = useState<{ words: string; key: string } | null>(null);
  const setActiveKey = (key: string): void => setMoved({ words, key });
  const activeKey = moved?.words === words ? moved.key : words === '' ? chosenKey : null;
  const active = shown.find((model) => modelKey(model) === activeKey) ?? shown[0] ?? null;
  const move = (step: number): void => {
    const index = active ? shown.indexOf(active) : -1;
    const next = shown[Math.max(0, Math.min(shown.length - 1, index + step))];
    if (next) setActiveKey(modelKey(next));
  };
  return { active, move, activate: (model: Model) => setActiveKey(modelKey(model)) };
}

/** All endpoints. Requests the models of those that have no list yet, which is free. */
function useListedEndpoints(): readonly CompatibleEndpoint[] {
  const endpoints = useEndpoints().data?.data ?? [];
  const { mutate } = useTestEndpoint();
  const unlisted = endpoints
    .filter(({ lastTest }) => lastTest === null)
    .map(({ name }) => name)
    .join('/');
  useEffect(() => {
    if (unlisted !== '') for (const name of unlisted.split('/')) mutate(name);
  }, [unlisted, mutate]);
  return endpoints;
}

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 };

interface SearchProps extends Pick<PickerProps, 'onChoose' | 'onChooseAndRun'> {
  words: string;
  onWords: (words: string) => void;
  groups: readonly ModelGroup[];
  active: Model | null;
  onMove: (step: number) => void;
  onToggleCopies: (model: Model) => void;
  /** The number of shown models and of all models. */
  counts: { shown: number; all: number };
}

/** The search field. The arrows move through the list while the field keeps the focus. */
function PickerSearch(props: SearchProps) {
  const { words, onWords, groups, active, onMove, onToggleCopies, counts, onChoose, onChooseAndRun } = props;
  const group = groups.find(({ models }) => active && models.includes(active)) ?? groups[0];
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined) onMove(step);
    else if (event.key.toLowerCase() === 'd' && (event.ctrlKey || event.metaKey) && active) toggleFavourite(active);
    else if (event.key === 'ArrowRight' && words === '' && active) onToggleCopies(active);
    else if (event.key === 'Enter' && active) (event.ctrlKey || event.metaKey ? onChooseAndRun : onChoose)(active);
    else return;
    event.preventDefault();
  };
  return (
    <div className="search-head">
      <Icon icon={Search} />
      <input
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls={group && `models-${group.key}`}
        aria-activedescendant={active ? `model-${modelKey(active)}` : undefined}
        aria-label="Search models"
        placeholder="Search models and providers"
        value={words}
        onChange={(event) => onWords(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <span className="small tertiary nowrap" role="status">
        {counts.shown} of {counts.all} models
      </span>
      <KeyCaps keys="Escape" />
    </div>
  );
}

const noModels: readonly Model[] = [];

/** All models that match the filters, in groups. Without a search, favourites and recent models come first. */
function useFilteredModels() {
  const { data, isPending } = useModels();
  const all = data?.data ?? noModels;
  const choices = useModelChoices();
  const [filter, setFilter] = useState<ModelFilter>(noFilter);
  const groups = useMemo(() => {
    const matching = groupModels(all, filter);
    return filter.words.trim() === '' ? withShortcuts(matching, choices) : matching;
  }, [all, filter, choices]);
  const change = (part: Partial<ModelFilter>): void => setFilter({ ...filter, ...part });
  return { all, isPending, filter, change, groups };
}

/** The models with a row. `openKeys` has the `modelKey` of models whose dated copies are shown. */
function useShownModels(groups: readonly ModelGroup[], words: string, chosenKey: string) {
  const [toggledKeys, setToggledKeys] = useState<ReadonlySet<string>>(new Set());
  // A search shows every match. Without one, the list shows dated copies on request, and those of the chosen model.
  const isOpen = (model: Model, copies: readonly Model[]): boolean =>
    words.trim() !== '' || toggledKeys.has(modelKey(model)) || copies.some((copy) => modelKey(copy) === chosenKey);
  const families = groups.flatMap((group) => modelFamilies(group.models));
  const open = families.filter(({ model, copies }) => isOpen(model, copies));
  const openKeys = new Set(open.map(({ model }) => modelKey(model)));
  const shown = families.flatMap(({ model, copies }) => (openKeys.has(modelKey(model)) ? [model, ...copies] : [model]));
  const toggleCopies = (model: Model): void => {
    const key = modelKey(model);
    setToggledKeys(
      toggledKeys.has(key)
        ? new Set([...toggledKeys].filter((other) => other !== key))
        : new Set([...toggledKeys, key]),
    );
  };
  return { shown, openKeys, toggleCopies };
}

function PickerBody({ chosenKey, needs = noNeeds, onChoose, onChooseAndRun, onClose }: PickerProps) {
  const [, navigate] = useLocation();
  const { all, isPending, filter, change, groups } = useFilteredModels();
  const providers = useProviders().data?.data ?? [];
  const endpoints = useListedEndpoints();
  const { shown, openKeys, toggleCopies } = useShownModels(groups, filter.words, chosenKey);
  const { active, move, activate } = useActiveRow(shown, chosenKey, filter.words);
  const leave = (address: string): void => {
    onClose();
    navigate(address);
  };
  return (
    <>
      <PickerSearch
        words={filter.words}
        onWords={(words) => change({ words })}
        groups={groups}
        active={active}
        onMove={move}
        counts={{ shown: groups.reduce((sum, group) => sum + group.models.length, 0), all: all.length }}
        onToggleCopies={toggleCopies}
        onChoose={onChoose}
        onChooseAndRun={onChooseAndRun}
      />
      <FilterBar filter={filter} ended={all.filter(({ hasEnded }) => hasEnded).length} onFilter={change} />
      <div className="picker__body">
        <div className="models scroll">
          <ColumnNames />
          {isPending && <LoadingRows label="Loading models" rows={6} />}
          {!isPending && shown.length === 0 && (
            <UnknownName words={filter.words} onAdded={(aiSystem, name) => onChoose({ aiSystem, name })} />
          )}
          {groups.map((group) => (
            <GroupRows
              key={group.key}
              group={group}
              words={filter.words}
              active={active}
              chosenKey={chosenKey}
              needs={needs}
              openKeys={openKeys}
              onToggleCopies={toggleCopies}
              providers={providers}
              endpoints={endpoints}
              onActivate={activate}
              onChoose={onChoose}
              onLeave={leave}
            />
          ))}
        </div>
        {active && <ModelDetail model={active} models={all} onPick={activate} onLeave={leave} />}
      </div>
      <PickerFoot />
    </>
  );
}

/** Every model by provider, with a search. */
export function ModelPicker({ isOpen, ...props }: PickerProps & { isOpen: boolean }) {
  return (
    <ModalLayer isOpen={isOpen} onClose={props.onClose} className="picker">
      <Dialog.Title className="visually-hidden">Choose model</Dialog.Title>
      <PickerBody {...props} />
    </ModalLayer>
  );
}
