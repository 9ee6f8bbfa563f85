import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Progress as Primitive } from 'radix-ui';
import { classNames } from './class-names.ts';
import { Icon } from './icon.tsx';

export type Tone = 'neutral' | 'positive' | 'caution' | 'negative' | 'accent';

/** A short word on a tint: a status, a count, a date. */
export function Badge({
  tone = 'neutral',
  isOutlined = false,
  children,
}: {
  tone?: Tone;
  isOutlined?: boolean;
  children: ReactNode;
}) {
  return (
    <span className={classNames('badge', tone !== 'neutral' && `badge--${tone}`, isOutlined && 'badge--outline')}>
      {children}
    </span>
  );
}

/** A dot beside a label; hollow for something absent or off. */
export function Dot({ tone = 'neutral' }: { tone?: 'neutral' | 'positive' | 'caution' | 'accent' | 'hollow' }) {
  return <i className={classNames('dot', tone !== 'neutral' && `dot--${tone}`)} aria-hidden="true" />;
}

/** Shows that something streams. A label and a Stop button are always next to it. */
export function Spinner() {
  return <i className="spinner" aria-hidden="true" />;
}

/** A state as an icon or a dot with its label. */
export function StateBadge({ tone, icon, children }: { tone: Tone; icon?: LucideIcon; children: ReactNode }) {
  const colour = tone === 'neutral' ? 'tertiary' : tone;
  return (
    <span className={classNames('row', 'small', 'nowrap', icon ? colour : undefined)}>
      {icon ? (
        <Icon icon={icon} size="small" />
      ) : (
        <Dot tone={tone === 'positive' || tone === 'caution' || tone === 'accent' ? tone : 'hollow'} />
      )}
      <span className={icon || tone !== 'neutral' ? undefined : 'tertiary'}>{children}</span>
    </span>
  );
}

interface ProgressProps {
  label: string;
  /** 0 to 1; null while the total is unknown. */
  fraction: number | null;
}

/** A bar of 4 pixels. Count, rate, time left and Stop are beside it. */
export function Progress({ label, fraction }: ProgressProps) {
  const percent = fraction === null ? null : Math.floor(Math.min(1, Math.max(0, fraction)) * 100);
  return (
    <Primitive.Root className="progress" aria-label={label} value={percent} max={100}>
      <Primitive.Indicator asChild>
        <i style={{ width: `${percent ?? 0}%` }} />
      </Primitive.Indicator>
    </Primitive.Root>
  );
}
