import { useRef, type KeyboardEvent, type PointerEvent } from 'react';

const steps: Record<string, number> = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
  Home: -1,
  End: 1,
};

const rounded = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;

export interface ThresholdSliderProps {
  label: string;
  value: number;
  onValueChange: (value: number) => void;
  onFocus: () => void;
}

/** A line across a scale from 0 to 1, moved by hand or by the arrows in steps of 0.01. */
export function ThresholdSlider({ label, value, onValueChange, onFocus }: ThresholdSliderProps) {
  const handle = useRef<HTMLSpanElement>(null);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onValueChange(rounded(value + step));
  };
  const onPointerMove = (event: PointerEvent) => {
    const scale = handle.current?.parentElement?.getBoundingClientRect();
    if (!scale || !handle.current?.hasPointerCapture(event.pointerId)) return;
    onValueChange(rounded((event.clientX - scale.left) / scale.width));
  };

  return (
    <span
      ref={handle}
      className="level__threshold"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={1}
      aria-valuenow={value}
      aria-valuetext={value.toFixed(2)}
      style={{ left: `${value * 100}%` }}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}
