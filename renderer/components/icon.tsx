import type { LucideIcon } from 'lucide-react';
import { classNames } from './class-names.ts';

export interface IconProps {
  icon: LucideIcon;
  /** 16, 14 or 12 pixels. */
  size?: 'default' | 'small' | 'tiny';
  className?: string;
}

/** A line icon beside a label or inside a named button. An icon alone never carries a meaning. */
export function Icon({ icon: Drawing, size = 'default', className }: IconProps) {
  return <Drawing aria-hidden className={classNames('icon', size !== 'default' && `icon--${size}`, className)} />;
}
