/** Numbers and times as the playground writes them. `en` throughout: the interface is English whatever the system's language. */

/** A length of time as number and unit: `412 ms`, `2.4 s`, `3:05 min`. */
export function duration(milliseconds: number): { value: string; unit: string } {
  if (milliseconds < 1000) return { value: String(Math.round(milliseconds)), unit: 'ms' };
  if (milliseconds < 99_950) return { value: (milliseconds / 1000).toFixed(1), unit: 's' };
  const seconds = Math.round(milliseconds / 1000);
  return { value: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`, unit: 'min' };
}

export function durationText(milliseconds: number): string {
  const { value, unit } = duration(milliseconds);
  return `${value} ${unit}`;
}

/** Time left in whole seconds or minutes, as one says it. */
export function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s left`;
  return `${Math.round(seconds / 60)} min left`;
}

/** Time of day with milliseconds: `14:09:31.204`. */
export function preciseClock(time: Date): string {
  const part = (value: number, length = 2): string => String(value).padStart(length, '0');
  return `${part(time.getHours())}:${part(time.getMinutes())}:${part(time.getSeconds())}.${part(time.getMilliseconds(), 3)}`;
}

/** About how many tokens a text has; models count differently, so it is always shown as an estimate. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
