import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { showToast } from '../stores/toasts.ts';
import { Button, type ButtonProps } from './button.tsx';
import { IconButton } from './icon-button.tsx';

export interface CopyButtonProps extends Omit<ButtonProps, 'onClick' | 'children'> {
  /** The text, or what makes it at the press. */
  text: string | (() => string);
  label: string;
  /** Shows the icon alone, with the label as its tooltip. */
  isIconOnly?: boolean;
}

const shownMilliseconds = 1_600;

/** Copies and says so for a moment in its own place. */
export function CopyButton({ text, label, isIconOnly = false, icon = Copy, ...rest }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), shownMilliseconds);
    return () => clearTimeout(timer);
  }, [isCopied]);

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
      setCopied(true);
    } catch {
      showToast({ tone: 'negative', text: "Couldn't copy. Select the text and press Ctrl+C." });
    }
  };
  const name = isCopied ? 'Copied' : label;
  if (isIconOnly)
    return <IconButton {...rest} icon={isCopied ? Check : icon} label={name} onClick={() => void copy()} />;
  return (
    <Button {...rest} icon={isCopied ? Check : icon} onClick={() => void copy()}>
      {name}
    </Button>
  );
}
