import type { Usage } from '../../shared/contract/completions.ts';
import { withCommas } from '../../shared/with-commas.ts';

/** Number and time formats of the window. Numbers are rounded for reading; the wire panel has exact values. */

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

/** A part of a whole, both in the unit of the whole and with a constant width: `148.0 of 322.6 MB`. */
export function formatPart(bytes: number, whole: number): string {
  const power = bytePower(whole);
  const inUnit = (amount: number) => (amount / 1000 ** power).toFixed(power === 0 ? 0 : 1);
  return `${inUnit(bytes)} of ${inUnit(whole)} ${byteUnits[power]}`;
}

/** A format that is created at its first use: a window's first one takes 20 ms, which its start doesn't have. */
function lazily<Value>(create: () => { format(value: Value): string }): (value: Value) => string {
  let created: { format(value: Value): string } | null = null;
  return (value) => (created ??= create()).format(value);
}

const compactNumber = lazily<number>(
  () => new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }),
);

/** With thousands separators up to 99,999, then short: `1.9M`. */
export function formatCount(count: number): string {
  return count < 100_000 ? formatWhole(count) : compactNumber(count);
}

/** Every digit, with thousands separators. */
export function formatWhole(count: number): string {
  return Number.isSafeInteger(count) ? withCommas(count) : count.toLocaleString('en');
}

/** `1 run`, `3 runs`. */
export function formatPlural(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** The duration of one run as number and unit: `412 ms`, `2.4 s`, `3:05 min`. */
export function runDuration(milliseconds: number): { value: string; unit: string } {
  if (Math.round(milliseconds) < 1000) return { value: String(Math.round(milliseconds)), unit: 'ms' };
  if (milliseconds < 99_950) return { value: (milliseconds / 1000).toFixed(1), unit: 's' };
  const seconds = Math.round(milliseconds / 1000);
  return { value: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`, unit: 'min' };
}

/** The duration of one run. Every screen uses it, so that a run has the same duration everywhere. */
export function formatRunDuration(milliseconds: number): string {
  const { value, unit } = runDuration(milliseconds);
  return `${value} ${unit}`;
}

/** An average, a limit or an estimate in the usual unit: `214 ms`, `2.4 s`, `3 min`, `2 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}

const dateFormat = (options: Intl.DateTimeFormatOptions) =>
  lazily<Date>(() => new Intl.DateTimeFormat('en-GB', options));

const timeOfDay = dateFormat({ hour: '2-digit', minute: '2-digit' });
const dayAndTime = dateFormat({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const fullDate = dateFormat({ day: 'numeric', month: 'short', year: 'numeric' });

/** `14:02` for today, `18 Nov, 14:02` in this year, `18 Nov 2025` before. */
export function formatTime(timestamp: string, now: Date = new Date()): string {
  const time = new Date(timestamp);
  if (time.toDateString() === now.toDateString()) return timeOfDay(time);
  return time.getFullYear() === now.getFullYear() ? dayAndTime(time) : fullDate(time);
}

const dayMilliseconds = 86_400_000;
const longDate = dateFormat({ day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
const shortDate = dateFormat({ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** A calendar date `YYYY-MM-DD` as `14 January 2027`. */
export function formatDate(date: string, form: 'long' | 'short' = 'long'): string {
  return (form === 'long' ? longDate : shortDate)(new Date(`${date}T00:00:00Z`));
}

/** Whole days from today to a calendar date; negative in the past. */
export function daysUntil(date: string, now: Date): number {
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.round((Date.parse(`${date}T00:00:00Z`) - today) / dayMilliseconds);
}

/** US dollars: four decimals below one, two below a hundred, thousands separators above. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars < 0.0001) return '<$0.0001';
  if (dollars < 1) return `$${dollars.toFixed(4)}`;
  const digits = dollars < 100 ? 2 : 0;
  return `$${dollars.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** Dollars per million tokens, without the sign: `2.50`, `0.075`, `0`. */
export function formatPrice(dollars: number): string {
  if (dollars === 0) return '0';
  const isFine = Math.abs(dollars * 100 - Math.round(dollars * 100)) > 1e-9;
  return isFine ? String(Number(dollars.toFixed(4))) : dollars.toFixed(2);
}

/** `2,048` as `2K`, `1,047,576` as `1.05M`. */
export function formatTokenCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${Math.round(count / 1000)}K`;
  return `${Number((count / 1_000_000).toFixed(2))}M`;
}

/** `−8`, `0`, `+4`, with a minus sign as wide as the plus. */
export function formatScore(score: number): string {
  if (score === 0) return '0';
  return score > 0 ? `+${score}` : `−${-score}`;
}

/** For English text; models differ. */
export const charactersPerToken = 4;

/** Estimates the tokens of a text. Models count differently, so it is always shown as an estimate. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

/** The tokens of a run: `7,215 in (6,900 cached) · 412 out · 1,020 reasoning`; `out` excludes the reasoning. */
export function tokensText({ prompt_tokens: input, completion_tokens: output, details }: Usage, about = ''): string {
  const { cached_tokens: cached = null, cache_write_tokens: written = null } = details ?? {};
  // A provider that reports more reasoning than output has counted it separately.
  const reasoning = Math.min(details?.reasoning_tokens ?? 0, output);
  const caches = [
    cached !== null && cached > 0 && `${formatWhole(cached)} cached`,
    written !== null && written > 0 && `${formatWhole(written)} written to the cache`,
  ].filter((part) => part !== false);
  return [
    `${about}${formatWhole(input)} in${caches.length > 0 ? ` (${caches.join(', ')})` : ''}`,
    `${about}${formatWhole(output - reasoning)} out`,
    reasoning > 0 && `${formatWhole(reasoning)} reasoning`,
  ]
    .filter((part) => part !== false)
    .join(' · ');
}

/** Tokens and cost in one line: `7,215 in (6,900 cached) · 412 out · $0.0123`; null when neither is known. */
export function usageText(usage: Usage | null, cost: number | null): string | null {
  const parts = [usage && tokensText(usage), cost !== null && formatCost(cost)].filter(
    (part) => typeof part === 'string',
  );
  return parts.length === 0 ? null : parts.join(' · ');
}

/** A typed number without the thousands separators of `2,000`, which the window writes itself; `0,125` and `1,5` are decimals. */
export function withoutSeparators(text: string): string {
  return /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(text) ? text.replaceAll(',', '') : text;
}

/**
 * A typed number with a decimal comma or point, possibly with thousands separators; undefined for empty text, null if it isn't a
 * number.
 */
export function readNumber(text: string): number | undefined | null {
  const plain = text.trim().replace('−', '-').replace(/^\$/, '');
  const trimmed = withoutSeparators(plain).replace(',', '.');
  if (trimmed === '') return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(trimmed) ? Number(trimmed) : null;
}

/** `2 s to 3 s`, or one value if both ends look the same. */
export function formatRange({ low, high }: { low: number; high: number }, format: (value: number) => string): string {
  const [from, to] = [format(low), format(high)];
  return from === to ? from : `${from} to ${to}`;
}
