import { Checkbox } from '../choices.tsx';
import { Icon } from '../icon.tsx';
import { KeyCaps } from '../key-caps.tsx';
import { Dot } from '../badges.tsx';
import { type Capability, type ModelFilter, shownCapabilities } from './model-list.ts';

/** Filters models by capability, and shows retired ones. */
export function FilterBar({
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
    <div className="picker__filters" role="group" aria-label="Filters">
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
      {shownCapabilities.map(({ id, label, icon }) => (
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
            label={`Show ${ended} retired`}
            isChecked={filter.isEndedShown}
            onCheckedChange={(isEndedShown) => onFilter({ isEndedShown })}
          />
        </span>
      )}
    </div>
  );
}

/** The keys of the picker. */
export function PickerFoot() {
  return (
    <div className="overlay__foot">
      <span className="row">
        <KeyCaps keys="ArrowUp+ArrowDown" /> Move
      </span>
      <span className="row">
        <KeyCaps keys="Enter" /> Choose
      </span>
      <span className="row">
        <KeyCaps keys="Mod+Enter" /> Choose and run
      </span>
      <span className="row">
        <KeyCaps keys="Mod+D" /> Favourite
      </span>
      <span className="row">
        <KeyCaps keys="ArrowRight" /> Dated versions
      </span>
      <span className="grow" />
      <span>Prices in US dollars per million tokens</span>
    </div>
  );
}
