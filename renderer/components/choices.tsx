import { Check } from 'lucide-react';
import { Checkbox as CheckboxPrimitive, Switch as SwitchPrimitive, ToggleGroup } from 'radix-ui';
import { useId, type ReactNode } from 'react';
import { Icon } from './icon.tsx';

export interface SegmentedProps<Value extends string> {
  /** The accessible name of the group. */
  label: string;
  value: Value;
  onValueChange: (value: Value) => void;
  options: readonly { value: Value; label: ReactNode }[];
  isDisabled?: boolean;
}

/** Two to four views of the same thing, one of them on; arrow keys move between them. */
export function Segmented<Value extends string>({
  label,
  value,
  onValueChange,
  options,
  isDisabled,
}: SegmentedProps<Value>) {
  return (
    <ToggleGroup.Root
      type="single"
      className="segmented"
      aria-label={label}
      value={value}
      disabled={isDisabled ?? false}
      onValueChange={(next) => {
        // A second click on the selected option would clear it, which this control doesn't allow.
        if (next) onValueChange(next as Value);
      }}
    >
      {options.map((option) => (
        <ToggleGroup.Item key={option.value} value={option.value}>
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}

export interface ChoiceProps {
  label: ReactNode;
  isChecked: boolean;
  onCheckedChange: (isChecked: boolean) => void;
  isDisabled?: boolean;
  /** Keeps the label for screen readers only. */
  isLabelHidden?: boolean;
}

export function Checkbox({ label, isChecked, onCheckedChange, isDisabled, isLabelHidden }: ChoiceProps) {
  const id = useId();
  return (
    <span className="choice-label">
      <CheckboxPrimitive.Root
        id={id}
        className="checkbox"
        checked={isChecked}
        disabled={isDisabled ?? false}
        onCheckedChange={(checked) => onCheckedChange(checked === true)}
      >
        <CheckboxPrimitive.Indicator>
          <Icon icon={Check} />
        </CheckboxPrimitive.Indicator>
      </CheckboxPrimitive.Root>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
    </span>
  );
}

/** Takes effect immediately. Use a checkbox for a choice that a button confirms. */
export function Switch({ label, isChecked, onCheckedChange, isDisabled, isLabelHidden }: ChoiceProps) {
  const id = useId();
  return (
    <span className="choice-label">
      <SwitchPrimitive.Root
        id={id}
        className="switch"
        checked={isChecked}
        disabled={isDisabled ?? false}
        onCheckedChange={onCheckedChange}
      >
        <SwitchPrimitive.Thumb />
      </SwitchPrimitive.Root>
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
    </span>
  );
}
