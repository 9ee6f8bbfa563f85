import { X } from 'lucide-react';
import { Dialog as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { IconButton } from './icon-button.tsx';

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
    <Primitive.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Primitive.Portal>
        <Primitive.Overlay className="scrim" />
        <Primitive.Content
          role={role}
          className={classNames('overlay', 'dialog', isWide && 'dialog--wide')}
          aria-describedby={undefined}
        >
          <div className="dialog__head">
            <Primitive.Title>{title}</Primitive.Title>
            <Primitive.Close asChild>
              <IconButton icon={X} label="Close" size="small" />
            </Primitive.Close>
          </div>
          <div className="dialog__body">{children}</div>
          {footer && <div className="dialog__foot">{footer}</div>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
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
export function ConfirmDialog({
  title,
  isOpen,
  onClose,
  children,
  action,
  onConfirm,
  isNegative = true,
  isBusy = false,
}: ConfirmDialogProps) {
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      onClose={onClose}
      role="alertdialog"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant={isNegative ? 'negative' : 'primary'} isBusy={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="secondary">{children}</div>
    </Dialog>
  );
}
