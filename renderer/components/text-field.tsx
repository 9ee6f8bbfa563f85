import type { LucideIcon } from 'lucide-react';
import { useId, type ComponentProps, type ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

export interface FieldProps {
  /** Its name. Shown above the field unless `isLabelHidden`. */
  label: string;
  isLabelHidden?: boolean;
  value: string;
  onValueChange: (value: string) => void;
  /** Why the value cannot be taken; turns the edge red and is read out. */
  error?: string | null | undefined;
  /** What to know about it, or why it is disabled; below the field. */
  hint?: ReactNode;
  /** Caution edge and ground: it will be sent empty. */
  isUnfilled?: boolean;
  isMono?: boolean;
  size?: 'default' | 'small';
}

interface FrameProps extends Omit<FieldProps, 'value' | 'onValueChange'> {
  isDisabled: boolean;
  isArea?: boolean;
  id: string;
  children: ReactNode;
}

function FieldFrame({
  label,
  isLabelHidden,
  error,
  hint,
  isUnfilled,
  isMono,
  size,
  isDisabled,
  isArea,
  id,
  children,
}: FrameProps) {
  const note = error ?? hint;
  return (
    <div className="labelled">
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      <div
        className={classNames(
          'field',
          isArea && 'field--area',
          size === 'small' && 'field--small',
          isMono && 'mono',
          isUnfilled && 'is-unfilled',
          isDisabled && 'is-disabled',
          error && 'is-invalid',
        )}
      >
        {children}
      </div>
      {note && (
        <p id={`${id}-note`} className={classNames('caption', error ? 'negative' : 'tertiary')}>
          {note}
        </p>
      )}
    </div>
  );
}

function described(id: string, { error, hint }: Pick<FieldProps, 'error' | 'hint'>) {
  return { 'aria-describedby': error || hint ? `${id}-note` : undefined, 'aria-invalid': error ? true : undefined };
}

type Native<Tag extends 'input' | 'textarea'> = Omit<ComponentProps<Tag>, 'value' | 'onChange' | 'size'>;

export interface TextFieldProps extends FieldProps, Native<'input'> {
  icon?: LucideIcon;
  /** What stands at its right end: a unit, a badge, a small button. */
  end?: ReactNode;
}

/** One line of text with its label, and its reason below where there is one. */
export function TextField(props: TextFieldProps) {
  const { label, isLabelHidden, value, onValueChange, error, hint, isUnfilled, isMono, size, icon, end, ...input } =
    props;
  const ownId = useId();
  const id = input.id ?? ownId;
  return (
    <FieldFrame
      {...{ label, isLabelHidden, error, hint, isUnfilled, isMono, size, id }}
      isDisabled={input.disabled ?? false}
    >
      {icon && <Icon icon={icon} size="small" />}
      <input
        autoComplete="off"
        spellCheck={false}
        {...input}
        {...described(id, props)}
        id={id}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
      />
      {end}
    </FieldFrame>
  );
}

export interface TextAreaProps extends FieldProps, Native<'textarea'> {}

/** Several lines; grows with its text from `rows` on. */
export function TextArea(props: TextAreaProps) {
  const { label, isLabelHidden, value, onValueChange, error, hint, isUnfilled, isMono, size, ...input } = props;
  const ownId = useId();
  const id = input.id ?? ownId;
  return (
    <FieldFrame
      {...{ label, isLabelHidden, error, hint, isUnfilled, isMono, size, id }}
      isDisabled={input.disabled ?? false}
      isArea
    >
      <textarea
        spellCheck={false}
        {...input}
        {...described(id, props)}
        id={id}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
      />
    </FieldFrame>
  );
}
