/** Numbers and times as the window writes them. Figures are for reading, so they are rounded; exact values stand in the wire. */

const byteUnits = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

function bytePower(bytes: number): number {
  return bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log10(bytes) / 3));
}

/** Decimal units, as file managers and download pages write them: `322.6 MB`, `460 MB`. */
export function formatBytes(bytes: number): string {
  const power = bytePower(bytes);
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : Number(value.toFixed(1))} ${byteUnits[power]}`;
}

/** How much of a whole is here, both in the unit of the whole and always as wide: `148.0 of 322.6 MB`. */
export function formatPart(bytes: number, whole: number): string {
  const power = bytePower(whole);
  const inUnit = (amount: number) => (amount / 1000 ** power).toFixed(power === 0 ? 0 : 1);
  return `${inUnit(bytes)} of ${inUnit(whole)} ${byteUnits[power]}`;
}

const wholeNumber = new Intl.NumberFormat('en');
const compactNumber = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Thousands apart up to 99,999, then short: `1.9M`. */
export function formatCount(count: number): string {
  return count < 100_000 ? wholeNumber.format(count) : compactNumber.format(count);
}

/** `1 run`, `3 runs`. */
export function formatPlural(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** A stretch of time in the unit a person would say: `214 ms`, `2.4 s`, `3 min`, `2 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const fullDate = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** `14:02` for today, `18 Nov, 14:02` in this year, `18 Nov 2025` before. */
export function formatTime(timestamp: string, now: Date = new Date()): string {
  const time = new Date(timestamp);
  if (time.toDateString() === now.toDateString()) return timeOfDay.format(time);
  return time.getFullYear() === now.getFullYear() ? dayAndTime.format(time) : fullDate.format(time);
}
