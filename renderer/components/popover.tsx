import { Popover as Primitive } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { keepNewerFocus } from './focus.ts';

export interface PopoverProps {
  /** The accessible name of the panel. */
  label: string;
  isOpen?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  align?: 'start' | 'center' | 'end';
  className?: string;
  /** The button that opens it. */
  trigger: ReactElement;
  children: ReactNode;
}

/** A small panel under its button. It takes the focus, and returns it unless the focus has moved elsewhere. */
export function Popover({ label, isOpen, onOpenChange, align = 'start', className, trigger, children }: PopoverProps) {
  return (
    <Primitive.Root
      {...(isOpen === undefined ? {} : { open: isOpen })}
      {...(onOpenChange === undefined ? {} : { onOpenChange })}
    >
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          aria-label={label}
          className={classNames('overlay', 'popover', className)}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={keepNewerFocus}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
