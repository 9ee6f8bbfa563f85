import { Tooltip as Primitive } from 'radix-ui';
import { type ComponentProps, type FocusEvent, type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { Check, Copy, type LucideIcon } from 'lucide-react';
import { KeyCaps, keyShortcut } from './key-caps.tsx';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';
import { Spinner } from './badges.tsx';
import { showToast } from '../stores/toasts.ts';

interface TooltipProps {
  text: ReactNode;
  keys?: string | undefined;
  side?: 'top' | 'right' | 'bottom' | 'left';
  /** False shows nothing, for places where the text is already on the screen. */
  isEnabled?: boolean;
  /** One element that accepts a ref and pointer events. */
  children: ReactElement;
}

/** Focus that the user didn't move: it returned when a popover closed, or with the window. A tooltip would cover new content. */
function isReturning({ relatedTarget }: FocusEvent): boolean {
  return relatedTarget === null || relatedTarget.closest('[data-radix-popper-content-wrapper]') !== null;
}

/** A name and its keys on hover and on focus. Never put here alone what a person needs in order to act. */
export function Tooltip({ text, keys, side = 'bottom', isEnabled = true, children }: TooltipProps) {
  return (
    <Primitive.Root {...(isEnabled ? {} : { open: false })}>
      <Primitive.Trigger asChild onFocus={(event) => isReturning(event) && event.preventDefault()}>
        {children}
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content className="tooltip" side={side} sideOffset={6} collisionPadding={8}>
          {text}
          {keys && <KeyCaps keys={keys} />}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

type ButtonVariant = 'default' | 'primary' | 'quiet' | 'negative';

interface ButtonProps extends ComponentProps<'button'> {
  variant?: ButtonVariant;
  size?: 'default' | 'small';
  icon?: LucideIcon;
  /** Shown as key caps; the action itself is registered in `stores/actions.ts`. */
  keys?: string;
  /** The action is running: a spinner replaces the icon, a second click does nothing, focus stays. */
  isBusy?: boolean;
}

/** 28 pixels high, 24 when small. `aria-disabled` instead of `disabled` keeps the button focusable, so that its reason can be read. */
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
      aria-disabled={isInactive || rest['aria-disabled']}
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

interface ShowMoreProps extends Pick<ButtonProps, 'className' | 'size' | 'variant'> {
  list: { readonly hasNextPage: boolean; readonly isFetchingNextPage: boolean; fetchNextPage(): Promise<unknown> };
}

/** Reads the next page of a list, if there is one. */
export function ShowMore({ list, ...button }: ShowMoreProps) {
  if (!list.hasNextPage) return null;
  return (
    <Button {...button} isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      Show more
    </Button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'children' | 'aria-label'> {
  icon: LucideIcon;
  /** Its accessible name, also the tooltip with its keys on hover and on focus. */
  label: string;
}

/** A button without a text label; quiet by default. */
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

interface CopyButtonProps extends Omit<ButtonProps, 'onClick' | 'children'> {
  /** The text, or a function that returns it on click. */
  text: string | (() => string);
  label: string;
  /** Shows the icon alone, with the label as its tooltip. */
  isIconOnly?: boolean;
}

const shownMilliseconds = 1_600;

/** Copies a text and confirms it on the button for a moment. */
export function CopyButton({ text, label, isIconOnly = false, icon = Copy, ...rest }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), shownMilliseconds);
    return () => clearTimeout(timer);
  }, [isCopied]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
      setCopied(true);
    } catch {
      showToast({ tone: 'negative', text: "Couldn't copy. Select the text and press Ctrl+C." });
    }
  };
  const name = isCopied ? 'Copied' : label;
  if (isIconOnly)
    return <IconButton {...rest} icon={isCopied ? Check : icon} label={name} onClick={() => void copy()} />;
  return (
    <Button {...rest} icon={isCopied ? Check : icon} onClick={() => void copy()}>
      {name}
    </Button>
  );
}
