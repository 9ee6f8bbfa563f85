import { Link } from 'lucide-react';
import { useCapability } from '../host/host-context.tsx';
import { showToast } from '../stores/toasts.ts';
import { CopyButton } from '../components/button.tsx';

/** Prefix of a link that the operating system passes to the desktop app. */
const appLinkStart = 'touchstone://open';

/** The link that opens an address of this window: in a browser its URL, on the desktop a `touchstone:` link. */
export function linkOf(address: string, isDesktop: boolean): string {
  return isDesktop ? `${appLinkStart}${address}` : `${location.origin}${location.pathname}#${address}`;
}

/** The address that a pasted link opens here; null for any other text. */
export function addressOfLink(text: string): string | null {
  const link = text.trim();
  const starts = [appLinkStart, `${location.origin}${location.pathname}#`];
  const start = starts.find((each) => link.startsWith(`${each}/`));
  return start === undefined ? null : link.slice(start.length);
}

/** Copies the link of an address and confirms it. */
export function useCopyLink(): (address: string) => Promise<void> {
  const isDesktop = useCapability('app-links');
  return async (address) => {
    try {
      await navigator.clipboard.writeText(linkOf(address, isDesktop));
      showToast({ tone: 'neutral', text: 'Link copied.' });
    } catch {
      showToast({ tone: 'negative', text: "Couldn't copy the link. Copy it from the address bar." });
    }
  };
}

/** Copies the link that opens an object again: in a browser its URL, on the desktop a `touchstone:` link. */
export function CopyLink({ address, size }: { address: string; size?: 'small' }) {
  const isDesktop = useCapability('app-links');
  return (
    <CopyButton
      icon={Link}
      text={() => linkOf(address, isDesktop)}
      label="Copy link"
      isIconOnly
      {...(size && { size })}
    />
  );
}
