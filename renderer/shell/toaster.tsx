import { CircleX, Info, X } from 'lucide-react';
import { Toast as Primitive } from 'radix-ui';
import { useLayoutEffect, useRef, type RefObject } from 'react';
import { createPortal } from 'react-dom';
import { Button, IconButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { dismissToast, useToasts, type Toast } from '../stores/toasts.ts';

/** A message stays 6 seconds, longer under the pointer or with the focus. A failure stays until it is dismissed. */
const messageMilliseconds = 6_000;

function ToastCard({ toast }: { toast: Toast }) {
  const isFailure = toast.tone === 'negative';
  return (
    <Primitive.Root
      className="toast"
      type={isFailure ? 'foreground' : 'background'}
      duration={isFailure ? Infinity : messageMilliseconds}
      onOpenChange={(isOpen) => !isOpen && dismissToast(toast.id)}
    >
      <Icon icon={isFailure ? CircleX : Info} className={isFailure ? 'negative' : 'tertiary'} />
      <Primitive.Description className="toast__text">{toast.text}</Primitive.Description>
      {toast.requestId && <span className="mono--small tertiary truncate">Request ID {toast.requestId}</span>}
      {toast.action && (
        <Primitive.Action asChild altText={toast.action.label}>
          <Button size="small" onClick={toast.action.run}>
            {toast.action.label}
          </Button>
        </Primitive.Action>
      )}
      <Primitive.Close asChild>
        <IconButton icon={X} label="Dismiss" size="small" />
      </Primitive.Close>
    </Primitive.Root>
  );
}

/** Tells the style sheets the height of the toasts: other floating layers end above them. */
function useToastsHeight(viewport: RefObject<HTMLOListElement | null>): void {
  useLayoutEffect(() => {
    const list = viewport.current;
    if (!list) return;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty('--toasts-height', `${list.offsetHeight}px`));
    observer.observe(list);
    return () => {
      observer.disconnect();
      style.removeProperty('--toasts-height');
    };
  }, [viewport]);
}

/** Messages about events outside the view; F8 moves the focus there. */
export function Toaster() {
  const toasts = useToasts((state) => state.toasts);
  const viewport = useRef<HTMLOListElement>(null);
  useToastsHeight(viewport);
  // Outside the frame, which is inert while a dialog is open.
  return createPortal(
    <Primitive.Provider>
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
      <Primitive.Viewport ref={viewport} className="toasts" />
    </Primitive.Provider>,
    document.body,
  );
}
