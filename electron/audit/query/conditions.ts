import type { AuditFilter } from '../../../shared/contract/audit.ts';
import type { AuditIndex } from '../index/audit-index.ts';
import { type Bits, blockRuns, countBits, intersect, RunSet, subtract, unite } from '../index/bits.ts';
import { anyFeedback, type FeedbackTest, tagsOf, type IndexedFeedback } from '../index/feedback-index.ts';
import type { Zone } from '../index/block-store.ts';
import type { NumberField, TermField } from '../index/terms.ts';

/** One part of a filter. It removes the runs of a block that don't match. */
export interface Condition {
  narrow(block: number, bits: Bits): void;
  /** Whether no run of the block can match, as far as that is known without reading them. */
  excludes?(block: number): boolean;
  readonly usesFeedback?: true;
}

type Range = { min?: number | null | undefined; max?: number | null | undefined };

const present = <Value>(value: Value | null | undefined): value is Value => value !== null && value !== undefined;

/** A time in milliseconds. Fractions are rounded up for the start of a range and down for its end. */
export function firstMillisecond(moment: string): number {
  const isFiner = /\.\d{3}\d*[1-9]/.test(moment);
  return Date.parse(moment) + (isFiner ? 1 : 0);
}

/** The conditions of a filter, cheapest first. Each evaluates the current index. */
export function conditionsOf(filter: AuditFilter, index: AuditIndex): Condition[] {
  const lower = (id: string | null | undefined) => (present(id) ? [id.toLowerCase()] : undefined);
  const runId = filter.conversationRunId;
  const promptRunId = filter.promptRunId;
  return [
    present(runId) && oneRun(index, runId, false),
    present(promptRunId) && oneRun(index, promptRunId, true),
    present(filter.agentId) && oneAgent(index, filter.agentId),
    present(filter.conversationId) && oneConversation(index, filter.conversationId),
    anyTerm(index, 'caller', lower(filter.callerId)),
    anyTerm(
      index,
      'caller',
      filter.callerIds?.map((id) => id.toLowerCase()),
    ),
    anyTerm(index, 'workspace', lower(filter.workspaceId)),
    anyTerm(index, 'prompt', lower(filter.promptId)),
    anyTerm(index, 'prompt-version', lower(filter.promptVersionId)),
    anyTerm(index, 'ai-system', filter.aiSystems),
    anyTerm(index, 'model', filter.models),
    anyTerm(index, 'status', filter.statuses),
    anyTerm(index, 'origin', filter.origins),
    anyTerm(index, 'client', filter.clients),
    present(filter.importId) && oneImport(index, filter.importId),
    anyTerm(index, 'finish-reason', filter.finishReasons),
    anyTerm(index, 'error-code', filter.errorCodes),
    anyTerm(index, 'moderation', filter.moderationFlags),
    ...Object.entries(filter.appHeaders ?? {}).map(([name, value]) => header(index, name.toLowerCase(), value)),
    ...feedbackConditions(filter, index),
    (present(filter.startDate) || present(filter.endDate)) && dates(index, filter),
    inRange(index, 'total_ms', filter.totalMs),
    inRange(index, 'first_token_ms', filter.firstTokenMs),
    inRange(index, 'cost', filter.cost),
    inRange(index, 'total_tokens', filter.totalTokens),
    present(filter.text) && filter.text.trim() !== '' && words(index, filter.text, filter.textIn ?? null),
  ].filter((condition) => condition !== false && condition !== null);
}

/** A condition for the few runs that `find` returns. It is called again only after runs have changed. */
function onlyRuns(index: AuditIndex, find: () => Iterable<number>): Condition {
  let found: { changes: number; runs: RunSet } | null = null;
  const runs = () => {
    const { changes } = index.blocks;
    if (found?.changes !== changes) found = { changes, runs: new RunSet(find()) };
    return found.runs;
  };
  return {
    excludes: (block) => !runs().hasBlock(block),
    narrow: (block, bits) => intersect(bits, runs().bits(block)),
  };
}

function oneRun(index: AuditIndex, id: string, isOfPrompt: boolean): Condition {
  return onlyRuns(index, () => {
    const run = index.source.findRun(id.toLowerCase());
    return run !== null && (!isOfPrompt || run.prompt_id !== null) ? [run.sequence] : [];
  });
}

function oneAgent(index: AuditIndex, id: string): Condition {
  return onlyRuns(index, () => index.source.runsOfAgent(id.toLowerCase()));
}

function oneConversation(index: AuditIndex, id: string): Condition {
  return onlyRuns(index, function* () {
    const conversation = index.source.findConversation(id.toLowerCase());
    if (conversation === null) return;
    const { timeline } = index;
    let run = timeline.newestRun(conversation, timeline.lastRun);
    for (; run !== 0; run = timeline.previous[run]!) yield run;
  });
}

function anyTerm(index: AuditIndex, field: TermField, values: readonly string[] | null | undefined): Condition | null {
  if (!present(values)) return null;
  const postings = (block: number) =>
    values
      .map((value) => index.terms.find(field, value))
      .map((code) => (code === null ? null : index.blocks.posting(code, block)))
      .filter((posting) => posting !== null);
  return {
    excludes: (block) => postings(block).length === 0,
    narrow(block, bits) {
      const [first, ...others] = postings(block);
      if (first === undefined) return void bits.fill(0);
      if (others.length === 0) return intersect(bits, first);
      const any = first.slice();
      for (const posting of others) unite(any, posting);
      return intersect(bits, any);
    },
  };
}

function oneImport(index: AuditIndex, id: string): Condition | null {
  return anyTerm(index, 'import', [String(index.source.findImport(id.toLowerCase()))]);
}

function header(index: AuditIndex, name: string, value: string | null): Condition | null {
  if (value !== null) return anyTerm(index, `header:${name}`, [value]);
  return {
    narrow(block, bits) {
      const code = index.terms.find('header', name);
      const posting = code === null ? null : index.blocks.posting(code, block);
      if (posting !== null) subtract(bits, posting);
    },
  };
}

function feedbackConditions(filter: AuditFilter, index: AuditIndex): Condition[] {
  const { score, scoreText, scoreTags } = filter.feedback ?? {};
  const text = scoreText?.toLowerCase();
  const tags = [...tagsOf(scoreTags ?? null), ...(filter.tags ?? []).map((tag) => tag.trim())];
  const { min, max } = filter.score ?? {};
  const tests: ((feedback: IndexedFeedback) => boolean)[] = [];
  if (present(score)) tests.push((feedback) => feedback.score === score);
  if (present(filter.score)) {
    tests.push(
      (feedback) =>
        feedback.score !== null && feedback.score >= (min ?? -Infinity) && feedback.score <= (max ?? Infinity),
    );
  }
  if (tags.length > 0) tests.push(hasTags(tags));
  if (present(text)) tests.push((feedback) => feedback.text?.includes(text) === true);
  if (filter.hasFeedback === true && tests.length === 0) tests.push(() => true);
  const [only] = tests;
  // The only test is called directly, for each of many thousands.
  const passes = tests.length === 1 ? only! : (feedback: IndexedFeedback) => tests.every((test) => test(feedback));
  const key = JSON.stringify([score, text, tags, min, max]);
  return [
    ...(tests.length > 0 ? [withFeedback(index, key, { passes, text: text ?? '' })] : []),
    ...(filter.hasFeedback === false ? [withoutFeedback(index)] : []),
  ];
}

function hasTags(requiredTags: readonly string[]): (feedback: IndexedFeedback) => boolean {
  const known = new Map<readonly string[], boolean>();
  return ({ tags }) => {
    let passes = known.get(tags);
    if (passes === undefined) known.set(tags, (passes = requiredTags.every((tag) => tags.includes(tag))));
    return passes;
  };
}

function withFeedback(index: AuditIndex, key: string, test: FeedbackTest): Condition {
  return {
    usesFeedback: true,
    excludes: (block) => index.feedback.matches(key, block, test) === null,
    narrow(block, bits) {
      const matching = index.feedback.matches(key, block, test);
      if (matching === null) bits.fill(0);
      else intersect(bits, matching);
    },
  };
}

function withoutFeedback(index: AuditIndex): Condition {
  return {
    usesFeedback: true,
    narrow(block, bits) {
      const matching = index.feedback.matches('any', block, anyFeedback);
      if (matching !== null) subtract(bits, matching);
    },
  };
}

function dates(index: AuditIndex, { startDate, endDate }: AuditFilter): Condition {
  const first = present(startDate) ? firstMillisecond(startDate) : -Infinity;
  const last = present(endDate) ? Date.parse(endDate) : Infinity;
  return {
    excludes: (block) => isOutside(index.blocks.zone('created_at', block), first, last),
    narrow(block, bits) {
      const start = block * blockRuns;
      const zone = index.blocks.zone('created_at', block);
      // Every run has a time, so a whole block can be within the range.
      if (zone !== null && (zone.min ?? first) >= first && (zone.max ?? last) <= last) return;
      narrowByNumbers(bits, index.timeline.createdAt.subarray(start, start + blockRuns), first, last);
    },
  };
}

function inRange(index: AuditIndex, field: NumberField, range: Range | null | undefined): Condition | null {
  if (!present(range)) return null;
  const min = range.min ?? -Infinity;
  const max = range.max ?? Infinity;
  return {
    excludes: (block) => isOutside(index.blocks.zone(field, block), min, max),
    narrow: (block, bits) => narrowByNumbers(bits, index.blocks.numbers(field, block), min, max),
  };
}

/** Whether all numbers of a block are outside the range. */
function isOutside(zone: Zone | null, min: number, max: number): boolean {
  return zone !== null && (zone.min === null || zone.max === null || zone.max < min || zone.min > max);
}

function narrowByNumbers(bits: Bits, numbers: Float64Array, min: number, max: number): void {
  for (let word = 0; word < bits.length; word += 1) {
    let rest = bits[word]!;
    if (rest === 0) continue;
    let matching = 0;
    for (let bit = 0, offset = word * 32; bit < 32; bit += 1, offset += 1) {
      const number = numbers[offset]!;
      if (number >= min && number <= max) matching |= 1 << bit;
    }
    bits[word] = rest &= matching;
  }
}

/** The slowest condition, so it comes last and checks only the remaining runs. */
function words(index: AuditIndex, text: string, where: 'prompt' | 'answer' | null): Condition {
  let query = index.texts.query(text, where);
  let version = index.texts.version;
  /** The list of matching runs may have grown. */
  const current = () => {
    if (query.runs === null || version === index.texts.version) return query;
    version = index.texts.version;
    return (query = index.texts.query(text, where));
  };
  return {
    excludes: (block) => current().runs?.hasBlock(block) === false,
    narrow(block, bits) {
      const count = countBits(bits);
      if (count > 0) intersect(bits, index.texts.bits(current(), block, bits, count));
    },
  };
}
