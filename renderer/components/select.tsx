import { useId } from 'react';
import { classNames } from './class-names.ts';

export interface SelectOption<Value extends string> {
  value: Value;
  label: string;
  isDisabled?: boolean;
  /** Options with the same group are listed under its name. */
  group?: string;
}

export interface SelectProps<Value extends string> {
  label: string;
  /** False shows the label above it. */
  isLabelHidden?: boolean;
  /** Null while nothing is selected. */
  value: Value | null;
  onValueChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  /** Shown while nothing is selected. */
  placeholder?: string;
  size?: 'default' | 'small';
  isDisabled?: boolean;
  isMono?: boolean;
}

function Options<Value extends string>({ options }: { options: readonly SelectOption<Value>[] }) {
  return options.map(({ value, label, isDisabled }) => (
    <option key={value} value={value} disabled={isDisabled}>
      {label}
    </option>
  ));
}

/**
 * One of a few known values; typing jumps to an option. The browser's own control, styled with `appearance: base-select`: its keys
 * and accessible names are right everywhere, and it writes no styles that the content security policy would block. Use a combobox
 * for many values.
 */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, isLabelHidden = true, value, onValueChange, options, placeholder, size, isDisabled, isMono } = props;
  const id = useId();
  const groups = Map.groupBy(options, (option) => option.group ?? '');
  return (
    <div className="labelled">
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <select
        id={id}
        className={classNames(
          'field',
          'select',
          size === 'small' && 'field--small',
          isMono && 'mono',
          isDisabled && 'is-disabled',
        )}
        value={value ?? ''}
        disabled={isDisabled}
        onChange={(event) => onValueChange(event.target.value as Value)}
      >
        {value === null && (
          <option value="" disabled>
            {placeholder ?? 'Choose'}
          </option>
        )}
        {[...groups].map(([group, members]) =>
          group === '' ? (
            <Options key={group} options={members} />
          ) : (
            <optgroup key={group} label={group}>
              <Options options={members} />
            </optgroup>
          ),
        )}
      </select>
    </div>
  );
}
