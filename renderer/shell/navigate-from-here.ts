import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { showToast } from '../stores/toasts.ts';

/**
 * Returns a function to call before a wait. What that returns navigates after the wait, unless a person has opened another page
 * meanwhile: they stay there. It compares the address itself, because React may not have been told of a new one yet.
 */
export function useNavigateFromHere(): () => ReturnType<typeof useLocation>[1] {
  const [, navigate] = useLocation();
  return () => {
    const { hash } = window.location;
    return (to, options) => {
      if (window.location.hash === hash) navigate(to, options);
    };
  };
}

/** Returns a function that tells after a wait whether the part of the window is still open, to close or to navigate from. */
export function useIsOpen(): () => boolean {
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return () => isOpen.current;
}

/** Opens the result of a request at an address; if the part that asked for it is closed by then, a toast offers it instead. */
export function useOpenResult(): (result: { address: string; text: string; beforeOpening?: () => void }) => void {
  const [, navigate] = useLocation();
  const isOpen = useIsOpen();
  return ({ address, text, beforeOpening }) => {
    const open = (): void => {
      beforeOpening?.();
      navigate(address);
    };
    if (isOpen()) open();
    else showToast({ tone: 'neutral', text, action: { label: 'Open', run: open } });
  };
}
