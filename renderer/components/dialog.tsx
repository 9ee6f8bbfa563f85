import { Dialog as Primitive } from 'radix-ui';
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { X } from 'lucide-react';
import { classNames } from './class-names.ts';
import { Button, IconButton } from './button.tsx';

let openLayers = 0;

/**
 * Makes the frame of the window inert while a modal is open, and restores the focus afterwards. Radix's own modal mode writes
 * `<style>` elements, which the window's content security policy blocks.
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
  // After the commit: during it, React restores the focus to the element that had it before.
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

interface ModalLayerProps {
  isOpen: boolean;
  onClose: () => void;
  className: string;
  role?: 'dialog' | 'alertdialog';
  /** Whether it ends with buttons. */
  hasActions?: boolean;
  /** Must hold one `Primitive.Title`; the first control in it gets the focus. */
  children: ReactNode;
}

/** Covers the whole window until a button, Esc or a click outside closes it. */
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

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
  /** Buttons, the main action last. */
  footer?: ReactNode;
  /** `alertdialog` when the user has to decide. */
  role?: 'dialog' | 'alertdialog';
}

/** Only for content that doesn't fit on the page. Esc and a click outside close it; focus returns to where it was. */
export function Dialog({ title, isOpen, onClose, isWide = false, children, footer, role = 'dialog' }: DialogProps) {
  return (
    <ModalLayer
      isOpen={isOpen}
      onClose={onClose}
      role={role}
      hasActions={Boolean(footer)}
      className={classNames('dialog', isWide && 'dialog--wide')}
    >
      <Primitive.Title className="dialog__title">{title}</Primitive.Title>
      <div className="dialog__body">{children}</div>
      {footer && <div className="dialog__foot">{footer}</div>}
      {/* Last in the tab order: the first stop should be a control of the content. */}
      <div className="dialog__close">
        <IconButton icon={X} label="Close" size="small" onClick={onClose} />
      </div>
    </ModalLayer>
  );
}

interface ConfirmDialogProps {
  /** The question, with the name of the thing: `Remove the key of Groq?` */
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** What happens and whether it can be undone. */
  children: ReactNode;
  /** The label of the confirming button: `Remove key`. */
  action: string;
  onConfirm: () => void;
  isNegative?: boolean;
  isBusy?: boolean;
}

/** Only before an action that can't be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, isOpen, onClose, children, action, onConfirm, isNegative = true, isBusy = false } = props;
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant={isNegative ? 'negative' : 'primary'} isBusy={isBusy} onClick={onConfirm}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose} role="alertdialog" footer={footer}>
      <div className="secondary">{children}</div>
    </Dialog>
  );
}
