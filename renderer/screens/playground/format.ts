/** Numbers and times that only the playground writes. */

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
