import type { LucideIcon } from 'lucide-react';
import { useId, type ComponentProps, type ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

export interface TextFieldProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'size'> {
  /** Its label. Shown above the field unless `isLabelHidden`. */
  label: string;
  isLabelHidden?: boolean;
  value: string;
  onValueChange: (value: string) => void;
  /** Why the value is invalid; turns the edge red, and screen readers announce it. */
  error?: string | null | undefined;
  /** Why the value is valid but risky; replaces the hint. */
  caution?: string | null;
  /** A hint, or why it is disabled; below the field. */
  hint?: ReactNode;
  isMono?: boolean;
  size?: 'default' | 'small';
  icon?: LucideIcon;
  /** At its right end: a unit, a badge, a small button. */
  end?: ReactNode;
}

/** One line of text with its label, and an error or hint below. */
export function TextField(props: TextFieldProps) {
  const { label, isLabelHidden, value, onValueChange, error, caution, hint, isMono, size, icon, end, ...input } = props;
  const ownId = useId();
  const id = input.id ?? ownId;
  const note = error ?? caution ?? hint;
  const states = [
    size === 'small' && 'field--small',
    isMono && 'mono',
    input.disabled && 'is-disabled',
    error && 'is-invalid',
  ];
  return (
    <div className="labelled">
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <div className={classNames('field', ...states)}>
        {icon && <Icon icon={icon} size="small" />}
        <input
          autoComplete="off"
          spellCheck={false}
          {...input}
          id={id}
          aria-describedby={note ? `${id}-note` : undefined}
          aria-invalid={error ? true : undefined}
          value={value}
          onChange={(event) => onValueChange(event.target.value)}
        />
        {end}
      </div>
      {note && (
        <p id={`${id}-note`} className={classNames('caption', error ? 'negative' : caution ? 'caution' : 'tertiary')}>
          {note}
        </p>
      )}
    </div>
  );
}
