import { type AuditFilter, auditFilter, auditSort, type AuditSort } from '../../shared/contract/audit.ts';
import type { AuditSpan } from '../../shared/contract/audit-views.ts';

const dayMilliseconds = 86_400_000;

function startOfDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

export interface DateSpan {
  readonly id: AuditSpan;
  readonly name: string;
  readonly start: (now: Date) => Date;
}

/** Spans that end now, by this machine's clock. Days start at midnight. */
export const dateSpans: readonly DateSpan[] = [
  { id: 'today', name: 'Today', start: startOfDay },
  { id: 'last-24-hours', name: 'Last 24 hours', start: (now) => new Date(now.getTime() - dayMilliseconds) },
  {
    id: 'last-7-days',
    name: 'Last 7 days',
    start: (now) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 6),
  },
  {
    id: 'last-30-days',
    name: 'Last 30 days',
    start: (now) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - 29),
  },
  { id: 'this-month', name: 'This month', start: (now) => new Date(now.getFullYear(), now.getMonth(), 1) },
  { id: 'this-year', name: 'This year', start: (now) => new Date(now.getFullYear(), 0, 1) },
];

export function spanOf(id: string | null | undefined): DateSpan | null {
  return dateSpans.find((span) => span.id === id) ?? null;
}

/** The filter with the current start of its span; the filter unchanged without one. */
export function withSpan(filter: AuditFilter, id: AuditSpan | null | undefined, now: Date): AuditFilter {
  const span = spanOf(id);
  if (span === null) return filter;
  const { endDate: _end, ...rest } = filter;
  return { ...rest, startDate: span.start(now).toISOString() };
}

/** The saved filter next to its span. The start of a span is computed again every day. */
export function withoutSpan(filter: AuditFilter, id: AuditSpan | null): AuditFilter {
  if (id === null) return filter;
  const { startDate: _start, ...rest } = filter;
  return rest;
}

/**
 * Names and values in the address. Only letters, digits and `-_.!*'()+~=&` are used: a router, a browser and a chat program may
 * each decode an address a different number of times, and none of them changes these.
 */
function escapeText(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '~7E').replaceAll('%20', '+').replaceAll('%', '~');
}

function unescapeText(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('%', '%25').replaceAll('+', '%20').replaceAll('~', '%'));
  } catch {
    return null;
  }
}

/** Name and value pairs as one part of an address: `text=refund+promised&model=OpenAi~2Fgpt-4o`. */
function writePairs(pairs: readonly (readonly [name: string, value: string])[]): string {
  return pairs.map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`).join('&');
}

/** Parses the result of `writePairs`; anything that isn't a pair is ignored. */
function readPairs(text: string): (readonly [name: string, value: string])[] {
  return text.split('&').flatMap((part) => {
    const [name, value] = part.split('=').map(unescapeText);
    return name && typeof value === 'string' ? [[name, value] as const] : [];
  });
}

/** The state in the screen's address: `/audit/text=refund&from=last-7-days&score=-10..-4/<conversation>/<run>`. */
export interface AuditAddress {
  filter: AuditFilter;
  /** The span of the filter's dates, if they are relative. */
  span?: AuditSpan | null;
  sort: AuditSort;
  /** The conversation that is open. */
  conversationId: string | null;
  /** The open run; null for the one that the list shows. */
  runId: string | null;
}

const texts = {
  text: 'text',
  in: 'textIn',
  from: 'startDate',
  to: 'endDate',
  workspace: 'workspaceId',
  conversation: 'conversationId',
  run: 'conversationRunId',
  agent: 'agentId',
  prompt: 'promptId',
  'prompt-version': 'promptVersionId',
  'prompt-run': 'promptRunId',
  import: 'importId',
} as const;

const lists = {
  provider: 'aiSystems',
  model: 'models',
  status: 'statuses',
  origin: 'origins',
  program: 'clients',
  finish: 'finishReasons',
  error: 'errorCodes',
  flagged: 'moderationFlags',
  caller: 'callerIds',
  tag: 'tags',
} as const;

const ranges = {
  score: 'score',
  latency: 'totalMs',
  'first-token': 'firstTokenMs',
  cost: 'cost',
  tokens: 'totalTokens',
} as const;

const others = { header: 'appHeaders', 'feedback-text': 'feedback', rated: 'hasFeedback' } as const;

const everything = 'all';

function writeRange({ min, max }: { min?: number | null | undefined; max?: number | null | undefined }): string {
  return `${min ?? ''}..${max ?? ''}`;
}

function readRange(text: string): { min?: number; max?: number } {
  const [min = '', max = ''] = text.split('..');
  return { ...(min !== '' && { min: Number(min) }), ...(max !== '' && { max: Number(max) }) };
}

function pairsOf(filter: AuditFilter): [string, string][] {
  const pairs: [string, string | null | undefined][] = [];
  for (const [name, key] of Object.entries(texts)) pairs.push([name, filter[key]]);
  for (const [name, key] of Object.entries(lists)) for (const value of filter[key] ?? []) pairs.push([name, value]);
  for (const [name, key] of Object.entries(ranges)) {
    const range = filter[key];
    if (range) pairs.push([name, writeRange(range)]);
  }
  for (const [name, value] of Object.entries(filter.appHeaders ?? {}))
    pairs.push(['header', value === null ? name : `${name}=${value}`]);
  pairs.push(['feedback-text', filter.feedback?.scoreText]);
  if (typeof filter.hasFeedback === 'boolean') pairs.push(['rated', filter.hasFeedback ? 'yes' : 'no']);
  return pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '');
}

function readHeader(text: string): Record<string, string | null> {
  const split = text.indexOf('=');
  return split < 0 ? { [text]: null } : { [text.slice(0, split)]: text.slice(split + 1) };
}

function hasName<Names extends object>(names: Names, name: string): name is Extract<keyof Names, string> {
  return Object.hasOwn(names, name);
}

function addPair(found: Record<string, unknown>, name: string, value: string): boolean {
  if (hasName(texts, name)) found[texts[name]] = value;
  else if (hasName(lists, name)) found[lists[name]] = [...((found[lists[name]] as string[]) ?? []), value];
  else if (hasName(ranges, name)) found[ranges[name]] = readRange(value);
  else if (name === 'header') found['appHeaders'] = { ...(found['appHeaders'] as object), ...readHeader(value) };
  else if (name === 'feedback-text') found['feedback'] = { scoreText: value };
  else if (name === 'rated') found['hasFeedback'] = value === 'yes' ? true : value === 'no' ? false : value;
  else if (name === 'sort') found['sort'] = value;
  else return false;
  return true;
}

/** Replaces a span by its start date. A span with an end date becomes fixed dates. */
function resolveSpan(found: Record<string, unknown>, now: Date): AuditSpan | null {
  const span = spanOf(found['startDate'] as string | undefined);
  if (span === null) return null;
  found['startDate'] = span.start(now).toISOString();
  return found['endDate'] === undefined ? span.id : null;
}

interface ReadFilter {
  filter: AuditFilter;
  sort: AuditSort;
  span: AuditSpan | null;
  /** Names that match no search condition. */
  ignored: string[];
}

/** The filter in a part of an address; its spans end `now`. */
export function readFilter(text: string, now = new Date()): ReadFilter {
  const values: Record<string, unknown> = {};
  const ignored: string[] = [];
  if (text !== everything) {
    for (const [name, value] of readPairs(text)) if (!addPair(values, name, value)) ignored.push(name);
  }
  const span = resolveSpan(values, now);
  const { sort: requestedSort = 'newest', ...requested } = values;
  const sort = auditSort.safeParse(requestedSort);
  if (!sort.success) ignored.push('sort');
  const filter = auditFilter.safeParse(requested);
  if (filter.success) return { filter: filter.data, sort: sort.data ?? 'newest', span, ignored };
  for (const { path } of filter.error.issues) delete requested[String(path[0])];
  const names = Object.keys(values).filter((key) => key !== 'sort' && !Object.hasOwn(requested, key));
  const written = new Map<string, string>(
    Object.entries({ ...texts, ...lists, ...ranges, ...others }).map(([name, key]) => [key, name]),
  );
  const rest = auditFilter.safeParse(requested);
  return {
    filter: rest.data ?? {},
    sort: sort.data ?? 'newest',
    span,
    ignored: [...ignored, ...names.map((key) => written.get(key) ?? key)],
  };
}

/** The filter as a part of an address; `all` for none. */
export function writeFilter(filter: AuditFilter, sort: AuditSort, span: AuditSpan | null = null): string {
  const pairs = pairsOf(withoutSpan(filter, span));
  if (span !== null) pairs.push(['from', span]);
  if (sort !== 'newest') pairs.push(['sort', sort]);
  return pairs.length === 0 ? everything : writePairs(pairs);
}

export function auditAddress({ filter, sort, span = null, conversationId, runId }: AuditAddress): string {
  const parts = [writeFilter(filter, sort, span), conversationId, conversationId && runId];
  return `/audit/${parts.filter((part) => part !== null).join('/')}`;
}

export function readAuditAddress(location: string): AuditAddress & ReadFilter {
  const [, , text = everything, conversationId = null, runId = null] = location.split('/');
  return {
    ...readFilter(text === '' ? everything : text),
    conversationId: conversationId || null,
    runId: runId || null,
  };
}
