import { Dialog as Primitive } from 'radix-ui';
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { classNames } from './class-names.ts';

let openLayers = 0;

/**
 * Makes the frame of the window inert while a modal is open, and gives the focus back to where it was. Radix's own modal
 * mode does the same by writing `<style>` elements, which the window's content security policy refuses.
 */
function useInertFrame(isOpen: boolean): void {
  const focused = useRef<Element | null>(null);
  const surroundings = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    if (!isOpen) return;
    focused.current = document.activeElement;
    surroundings.current = focused.current?.closest<HTMLElement>('[role="region"]') ?? null;
    const frame = document.getElementById('window');
    openLayers += 1;
    frame?.setAttribute('inert', '');
    return () => {
      openLayers -= 1;
      if (openLayers === 0) frame?.removeAttribute('inert');
    };
  }, [isOpen]);
  // After the commit: during it, React gives the focus back to the element that had it before.
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      // The action may have deleted the item, and with it the button that opened this layer.
      const target = focused.current?.isConnected ? focused.current : surroundings.current;
      if (target instanceof HTMLElement) target.focus();
    };
  }, [isOpen]);
}

/** Focuses the first field or action. A layer without either gets the focus itself rather than its Close button. */
function focusFirstControl(event: Event, hasActions: boolean): void {
  const layer = event.currentTarget;
  if (hasActions || !(layer instanceof HTMLElement) || layer.querySelector('input, textarea, select')) return;
  event.preventDefault();
  layer.focus();
}

export interface ModalLayerProps {
  isOpen: boolean;
  onClose: () => void;
  className: string;
  role?: 'dialog' | 'alertdialog';
  /** It ends with buttons that answer it. */
  hasActions?: boolean;
  /** Must hold one `Primitive.Title`; the first control in it gets the focus. */
  children: ReactNode;
}

/** Covers the whole window until a button, Esc or a click beside it closes it. */
export function ModalLayer(props: ModalLayerProps) {
  const { isOpen, onClose, className, role = 'dialog', hasActions = false, children } = props;
  useInertFrame(isOpen);
  return (
    <Primitive.Root modal={false} open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <div className="scrim" />
        <Primitive.Content
          role={role}
          aria-modal="true"
          aria-describedby={undefined}
          className={classNames('overlay', className)}
          onOpenAutoFocus={(event) => focusFirstControl(event, hasActions)}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
