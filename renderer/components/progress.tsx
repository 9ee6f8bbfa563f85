import { Progress as Primitive } from 'radix-ui';

export interface ProgressProps {
  label: string;
  /** 0 to 1; null when the end is not known yet. */
  fraction: number | null;
}

/** A bar of 4 pixels. Count, rate, time left and Stop stand beside it. */
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
