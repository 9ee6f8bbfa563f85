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
  // Not before the commit is over: React gives the focus back to what had it before, which is still there.
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      // What was asked about may be gone, and the button that asked with it.
      const target = focused.current?.isConnected ? focused.current : surroundings.current;
      if (target instanceof HTMLElement) target.focus();
    };
  }, [isOpen]);
}

/** The first field or answer; where there is none, the layer itself rather than its Close button. */
function focusWhatIsAskedFor(event: Event): void {
  const layer = event.currentTarget;
  if (!(layer instanceof HTMLElement) || layer.querySelector('input, textarea, select, .dialog__foot button')) return;
  event.preventDefault();
  layer.focus();
}

export interface ModalLayerProps {
  isOpen: boolean;
  onClose: () => void;
  className: string;
  role?: 'dialog' | 'alertdialog';
  /** Must hold one `Primitive.Title`; the first control in it gets the focus. */
  children: ReactNode;
}

/** What lies over the whole window until it is answered or put away with Esc or a press beside it. */
export function ModalLayer({ isOpen, onClose, className, role = 'dialog', children }: ModalLayerProps) {
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
          onOpenAutoFocus={focusWhatIsAskedFor}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
