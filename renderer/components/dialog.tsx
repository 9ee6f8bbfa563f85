import { X } from 'lucide-react';
import { Dialog as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { IconButton } from './icon-button.tsx';
import { ModalLayer } from './modal-layer.tsx';

export interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
  /** Buttons, the one that acts last. */
  footer?: ReactNode;
  /** `alertdialog` when a decision is asked for. */
  role?: 'dialog' | 'alertdialog';
}

/** Only for what does not fit in its place. Esc and a press beside it close it; focus goes back to where it was. */
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
      {/* Last in the order of focus: the first stop is what the dialog asks for. */}
      <div className="dialog__close">
        <IconButton icon={X} label="Close" size="small" onClick={onClose} />
      </div>
    </ModalLayer>
  );
}

export interface ConfirmDialogProps {
  /** The question, with the name of the thing: `Remove the key of Groq?` */
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** What happens and whether it can be undone. */
  children: ReactNode;
  /** The verb of the act: `Remove key`. */
  action: string;
  onConfirm: () => void;
  isNegative?: boolean;
  isBusy?: boolean;
}

/** Asked only before what cannot be taken back. */
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
