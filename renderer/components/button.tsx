import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';
import { KeyCaps, keyShortcut } from './key-caps.tsx';
import { Spinner } from './marks.tsx';

export type ButtonVariant = 'default' | 'primary' | 'quiet' | 'negative';

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: ButtonVariant;
  size?: 'default' | 'small';
  icon?: LucideIcon;
  /** Shown as caps; the action itself is registered in `stores/actions.ts`. */
  keys?: string;
  /** The action is under way: a spinner in place of the icon, a second press does nothing, focus stays. */
  isBusy?: boolean;
}

/** 28 pixels high, 24 when small. `aria-disabled` rather than `disabled` keeps focus where a reason must be readable. */
export function Button({
  variant = 'default',
  size = 'default',
  icon,
  keys,
  isBusy = false,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const isInactive = isBusy || rest['aria-disabled'] === true;
  return (
    <button
      type="button"
      {...rest}
      aria-busy={isBusy || undefined}
      aria-keyshortcuts={keys ? keyShortcut(keys) : undefined}
      className={classNames(
        'button',
        variant !== 'default' && `button--${variant}`,
        size === 'small' && 'button--small',
        className,
      )}
      onClick={isInactive ? (event) => event.preventDefault() : onClick}
    >
      {isBusy ? <Spinner /> : icon && <Icon icon={icon} size={size === 'small' ? 'small' : 'default'} />}
      {children}
      {keys && <KeyCaps keys={keys} />}
    </button>
  );
}
