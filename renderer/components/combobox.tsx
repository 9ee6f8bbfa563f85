import { Command } from 'cmdk';
import { Check, ChevronDown, Search } from 'lucide-react';
import { useState } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';
import { matchScore } from './match-score.ts';

export interface ComboboxOption {
  value: string;
  label: string;
  group: string;
  /** At the right end: a price, or why it cannot be chosen. */
  detail?: string | undefined;
  isDisabled?: boolean;
}

export interface ComboboxProps {
  label: string;
  value: string;
  /** What the closed field shows. The option of `value` may have left the list. */
  shown: string;
  options: readonly ComboboxOption[];
  onValueChange: (value: string) => void;
  placeholder: string;
  size?: 'default' | 'small';
}

function OptionList({
  options,
  value,
  placeholder,
  choose,
}: Pick<ComboboxProps, 'options' | 'value' | 'placeholder'> & { choose: (value: string) => void }) {
  return (
    <Command label={placeholder} loop filter={(_value, search, keywords) => matchScore(search, keywords ?? [])}>
      <div className="combobox__search">
        <Icon icon={Search} size="small" />
        <Command.Input placeholder={placeholder} />
      </div>
      <Command.List className="combobox__list scroll">
        <Command.Empty className="combobox__empty">No results</Command.Empty>
        {[...Map.groupBy(options, ({ group }) => group)].map(([group, members]) => (
          <Command.Group key={group} heading={group}>
            {members.map((option) => (
              <Command.Item
                key={option.value}
                value={option.value}
                keywords={[option.label, option.group]}
                disabled={option.isDisabled ?? false}
                className="menu__item"
                onSelect={() => choose(option.value)}
              >
                <span className="menu__check">{option.value === value && <Icon icon={Check} size="small" />}</span>
                <span className="grow truncate">{option.label}</span>
                {option.detail && <span className="caption tertiary nowrap">{option.detail}</span>}
              </Command.Item>
            ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

/** Selects one of many options; typing filters them. */
export function Combobox({ label, value, shown, options, onValueChange, placeholder, size }: ComboboxProps) {
  const [isOpen, setOpen] = useState(false);
  const choose = (next: string) => {
    setOpen(false);
    if (next !== value) onValueChange(next);
  };
  return (
    <Popover
      label={label}
      isOpen={isOpen}
      onOpenChange={setOpen}
      className="combobox"
      trigger={
        <button
          type="button"
          aria-label={`${label}: ${shown}`}
          className={classNames('field', size === 'small' && 'field--small')}
        >
          <span className="grow truncate">{shown}</span>
          <Icon icon={ChevronDown} size="small" />
        </button>
      }
    >
      <OptionList options={options} value={value} placeholder={placeholder} choose={choose} />
    </Popover>
  );
}
