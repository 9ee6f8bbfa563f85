/** Numbers and times as the playground writes them. `en` throughout: the interface is English whatever the system's language. */

const day = 86_400_000;

/** `2,048` as `2K`, `1,047,576` as `1.05M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${Math.round(count / 1000)}K`;
  return `${Number((count / 1_000_000).toFixed(2))}M`;
}

/** Dollars per million tokens, without the sign: `2.50`, `0.075`, `0`. */
export function price(dollars: number): string {
  if (dollars === 0) return '0';
  const isFine = Math.abs(dollars * 100 - Math.round(dollars * 100)) > 1e-9;
  return isFine ? String(Number(dollars.toFixed(4))) : dollars.toFixed(2);
}

/** What a run cost: four decimals below a cent's worth of precision, two from a dollar on. */
export function cost(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars < 0.0001) return '<$0.0001';
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

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

const longDate = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const shortDate = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** Time of day with milliseconds: `14:09:31.204`. */
export function preciseClock(time: Date): string {
  const part = (value: number, length = 2): string => String(value).padStart(length, '0');
  return `${part(time.getHours())}:${part(time.getMinutes())}:${part(time.getSeconds())}.${part(time.getMilliseconds(), 3)}`;
}

/** A calendar date `YYYY-MM-DD` as `14 January 2027`. */
export function calendarDate(date: string, form: 'long' | 'short' = 'long'): string {
  return (form === 'long' ? longDate : shortDate).format(new Date(`${date}T00:00:00Z`));
}

/** Whole days from today until a calendar date; negative when it is over. */
export function daysUntil(date: string, now: Date): number {
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.round((Date.parse(`${date}T00:00:00Z`) - today) / day);
}

/** About how many tokens a text has; models count differently, so it is always shown as an estimate. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
