import { Tooltip as Primitive } from 'radix-ui';
import type { FocusEvent, ReactElement, ReactNode } from 'react';
import { KeyCaps } from './key-caps.tsx';

export interface TooltipProps {
  text: ReactNode;
  keys?: string | undefined;
  side?: 'top' | 'right' | 'bottom' | 'left';
  /** False shows nothing, for places where the text is already on the screen. */
  isEnabled?: boolean;
  /** One element that takes a ref and the pointer's events. */
  children: ReactElement;
}

/** Focus that nobody moved: it came back from what the button had opened, or with the window. A tooltip would cover what is new. */
function isReturning({ relatedTarget }: FocusEvent): boolean {
  return relatedTarget === null || relatedTarget.closest('[data-radix-popper-content-wrapper]') !== null;
}

/** A name and its keys on hover and on focus. What a person must know to act never lives here alone. */
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
