import { Check, ChevronDown } from 'lucide-react';
import { Select as Primitive } from 'radix-ui';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

export interface SelectOption<Value extends string> {
  value: Value;
  label: string;
  /** Beside the label, in tertiary text. */
  detail?: string;
  isDisabled?: boolean;
  /** Options with the same group stand together under its name. */
  group?: string;
}

export interface SelectProps<Value extends string> {
  label: string;
  value: Value | null;
  onValueChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  placeholder?: string;
  size?: 'default' | 'small';
  isDisabled?: boolean;
  isMono?: boolean;
}

/** One of a few known values; typing jumps to an option. For many values use a picker that filters. */
export function Select<Value extends string>({
  label,
  value,
  onValueChange,
  options,
  placeholder,
  size,
  isDisabled,
  isMono,
}: SelectProps<Value>) {
  const groups = Map.groupBy(options, (option) => option.group ?? '');
  return (
    <Primitive.Root
      value={value ?? ''}
      onValueChange={(next) => onValueChange(next as Value)}
      disabled={isDisabled ?? false}
    >
      <Primitive.Trigger
        aria-label={label}
        className={classNames(
          'field',
          size === 'small' && 'field--small',
          isMono && 'mono',
          isDisabled && 'is-disabled',
        )}
      >
        <span className="grow truncate">
          <Primitive.Value placeholder={placeholder} />
        </span>
        <Icon icon={ChevronDown} size="small" />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content className="overlay menu" position="popper" sideOffset={4} collisionPadding={8}>
          <Primitive.Viewport>
            {[...groups].map(([group, members]) => (
              <Primitive.Group key={group}>
                {group && <Primitive.Label className="menu__label">{group}</Primitive.Label>}
                {members.map((option) => (
                  <SelectItem key={option.value} option={option} isMono={isMono ?? false} />
                ))}
              </Primitive.Group>
            ))}
          </Primitive.Viewport>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

function SelectItem<Value extends string>({ option, isMono }: { option: SelectOption<Value>; isMono: boolean }) {
  return (
    <Primitive.Item value={option.value} disabled={option.isDisabled ?? false} className="menu__item">
      <span className="menu__check">
        <Primitive.ItemIndicator>
          <Icon icon={Check} size="small" />
        </Primitive.ItemIndicator>
      </span>
      <span className={classNames('grow', 'truncate', isMono && 'mono')}>
        <Primitive.ItemText>{option.label}</Primitive.ItemText>
      </span>
      {option.detail && <span className="caption tertiary">{option.detail}</span>}
    </Primitive.Item>
  );
}
