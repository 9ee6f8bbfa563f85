import { CircleX, Info, X } from 'lucide-react';
import { Toast as Primitive } from 'radix-ui';
import { createPortal } from 'react-dom';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { IconButton } from '../components/icon-button.tsx';
import { dismissToast, useToasts, type Toast } from '../stores/toasts.ts';

/** A message stays 6 seconds, longer under the pointer or with the focus; a failure until it is put away. */
const messageMilliseconds = 6_000;

function ToastCard({ toast }: { toast: Toast }) {
  const isFailure = toast.tone === 'negative';
  return (
    <Primitive.Root
      className="overlay toast"
      type={isFailure ? 'foreground' : 'background'}
      duration={isFailure ? Infinity : messageMilliseconds}
      onOpenChange={(isOpen) => !isOpen && dismissToast(toast.id)}
    >
      <Icon icon={isFailure ? CircleX : Info} className={isFailure ? 'negative' : 'tertiary'} />
      <Primitive.Description className="toast__text">{toast.text}</Primitive.Description>
      <Primitive.Close asChild>
        <IconButton icon={X} label="Put away" size="small" />
      </Primitive.Close>
      {(toast.action || toast.requestId) && (
        <div className="toast__actions">
          {toast.action && (
            <Primitive.Action asChild altText={toast.action.label}>
              <Button size="small" onClick={toast.action.run}>
                {toast.action.label}
              </Button>
            </Primitive.Action>
          )}
          {toast.requestId && <span className="mono--small tertiary truncate">{toast.requestId}</span>}
        </div>
      )}
    </Primitive.Root>
  );
}

/** Messages about what happened away from where the person looks; F8 moves the focus there. */
export function Toaster() {
  const toasts = useToasts((state) => state.toasts);
  // Outside the frame, which is inert while a dialog is open.
  return createPortal(
    <Primitive.Provider>
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
      <Primitive.Viewport className="toasts" />
    </Primitive.Provider>,
    document.body,
  );
}
