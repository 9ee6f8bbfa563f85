import type { LucideIcon } from 'lucide-react';
import { Button, type ButtonProps } from './button.tsx';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';
import { keyShortcut } from './key-caps.tsx';
import { Tooltip } from './tooltip.tsx';

export interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'children' | 'aria-label'> {
  icon: LucideIcon;
  /** Its name: read out, and shown with its keys on hover and on focus. */
  label: string;
}

/** A button without a word; quiet unless told. */
export function IconButton({
  icon,
  label,
  keys,
  variant = 'quiet',
  size = 'default',
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={label} keys={keys}>
      <Button
        {...rest}
        variant={variant}
        size={size}
        aria-label={label}
        aria-keyshortcuts={keys ? keyShortcut(keys) : undefined}
        className={classNames('button--icon', className)}
      >
        {!rest.isBusy && <Icon icon={icon} size={size === 'small' ? 'small' : 'default'} />}
      </Button>
    </Tooltip>
  );
}
