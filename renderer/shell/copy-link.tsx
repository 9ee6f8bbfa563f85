import { Link } from 'lucide-react';
import { CopyButton } from '../components/copy-button.tsx';
import { useCapability } from '../host/host-context.tsx';
import { linkOf } from './links.ts';

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
