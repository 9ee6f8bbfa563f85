import { diffArrays } from 'diff';
import type { Message, MessagePart, MessageRole } from '../../../shared/contract/messages.ts';
import { splitMessages } from '../../../shared/prompt-messages.ts';
import { formatBytes } from '../format.ts';
import { roleTitles } from '../sent-messages.ts';

/** A part of a message that is compared on its own: its text, a file, a call of a tool or a result. */
export interface ComparedPart {
  /** Empty for the text. */
  label: string;
  text: string;
}

export interface ComparedMessage {
  /** `User`, or `System message` for the one that is not in the template. */
  title: string;
  role: MessageRole;
  parts: readonly ComparedPart[];
}

/** A message of each side, next to each other; null if a side lacks it. */
export interface MessagePair {
  before: ComparedMessage | null;
  after: ComparedMessage | null;
  isSame: boolean;
}

function textMessage(title: string, role: MessageRole, text: string): ComparedMessage {
  return { title, role, parts: [{ label: '', text }] };
}

function systemMessages(systemMessage: string | null): ComparedMessage[] {
  return systemMessage ? [textMessage('System message', 'system', systemMessage)] : [];
}

/** The messages of a version's template; null if only rendering it tells them. */
export function messagesOfVersion({
  systemMessage,
  promptText,
}: {
  systemMessage: string | null;
  promptText: string;
}): ComparedMessage[] | null {
  const blocks = splitMessages(promptText);
  if (blocks === null) return null;
  return [
    ...systemMessages(systemMessage),
    ...blocks.map(({ role, text }) => textMessage(roleTitles[role], role, text)),
  ];
}

/** JSON with a line for each value; any other text unchanged. */
export function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function comparedPart(part: Exclude<MessagePart, { type: 'text' }>): ComparedPart {
  switch (part.type) {
    case 'file':
      return {
        label: `File ${part.name || part.fileId.slice(0, 8)}`,
        // The id is that of the content.
        text: `${part.mediaType}\n${formatBytes(part.bytes)}\n${part.fileId}`,
      };
    case 'toolCall':
      return { label: `Call of ${part.name}`, text: indented(part.arguments) };
    case 'toolResult':
      return { label: part.isError ? 'Error result' : 'Result', text: indented(part.content) };
  }
}

function comparedMessage({ role, content }: Message): ComparedMessage {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const others = content.flatMap((part) => (part.type === 'text' ? [] : [comparedPart(part)]));
  const parts = text === '' && others.length > 0 ? others : [{ label: '', text }, ...others];
  return { title: roleTitles[role], role, parts };
}

/** The messages that a run sent. */
export function messagesOfRun(systemMessage: string | null, messages: readonly Message[]): ComparedMessage[] {
  return [...systemMessages(systemMessage), ...messages.map(comparedMessage)];
}

/** Whether there is more than a system message and one message of the user. */
export function hasSeveralMessages(messages: readonly ComparedMessage[]): boolean {
  const own = messages.filter(({ title }) => title !== 'System message');
  return own.length > 1 || own[0]?.role !== 'user' || own[0].parts.length > 1;
}

const contentOf = ({ parts }: ComparedMessage): string => JSON.stringify(parts);

/** Milliseconds after which the messages count as having nothing in common. */
const timeoutMs = 100;
/** More changed messages in a row than this are paired in their order. */
const maxCompared = 40;
const comparedCharacters = 1_000;

function wordsOf({ parts }: ComparedMessage): Set<string> {
  const text = parts.map((part) => `${part.label} ${part.text}`).join(' ');
  return new Set(text.slice(0, comparedCharacters).toLowerCase().split(/\W+/).filter(Boolean));
}

/** From 0 to 1: the share of words that both have. */
function similarity(before: ReadonlySet<string>, after: ReadonlySet<string>): number {
  if (before.size + after.size === 0) return 1;
  let common = 0;
  for (const word of before) if (after.has(word)) common += 1;
  return (2 * common) / (before.size + after.size);
}

/** What two messages gain as a pair; negative if they must not be one. */
function scorer(before: readonly ComparedMessage[], after: readonly ComparedMessage[]) {
  const [old, fresh] = [before, after].map((messages) => messages.map(wordsOf)) as [Set<string>[], Set<string>[]];
  return (oldAt: number, freshAt: number): number => {
    const [one, other] = [before[oldAt]!, after[freshAt]!];
    if (one.role === other.role) return 0.2 + similarity(old[oldAt]!, fresh[freshAt]!);
    // The same message in another role.
    return contentOf(one) === contentOf(other) ? 1 : -1;
  };
}

type Score = (oldAt: number, freshAt: number) => number;

/** The best sum of scores from each position to the end. */
function bestScores(before: number, after: number, score: Score): Float64Array[] {
  const best = Array.from({ length: before + 1 }, () => new Float64Array(after + 1));
  for (let oldAt = before - 1; oldAt >= 0; oldAt -= 1) {
    for (let freshAt = after - 1; freshAt >= 0; freshAt -= 1) {
      const paired = score(oldAt, freshAt);
      best[oldAt]![freshAt] = Math.max(
        best[oldAt + 1]![freshAt]!,
        best[oldAt]![freshAt + 1]!,
        paired < 0 ? 0 : paired + best[oldAt + 1]![freshAt + 1]!,
      );
    }
  }
  return best;
}

/** Pairs changed messages with those that are most like them, without changing the order. */
function pairChanged(before: readonly ComparedMessage[], after: readonly ComparedMessage[]): MessagePair[] {
  if (before.length > maxCompared || after.length > maxCompared) return pairInOrder(before, after);
  const score = scorer(before, after);
  const best = bestScores(before.length, after.length, score);
  const pairs: MessagePair[] = [];
  let [oldAt, freshAt] = [0, 0];
  while (oldAt < before.length || freshAt < after.length) {
    const [one, other] = [before[oldAt] ?? null, after[freshAt] ?? null];
    const sum = one && other ? best[oldAt]![freshAt]! : 0;
    const paired = one && other ? score(oldAt, freshAt) : -1;
    const isPair = paired >= 0 && sum === paired + best[oldAt + 1]![freshAt + 1]!;
    const isRemoved = !isPair && one !== null && (other === null || sum === best[oldAt + 1]![freshAt]!);
    pairs.push({ before: isPair || isRemoved ? one : null, after: isRemoved ? null : other, isSame: false });
    if (isPair || isRemoved) oldAt += 1;
    if (!isRemoved) freshAt += 1;
  }
  return pairs;
}

function pairInOrder(before: readonly ComparedMessage[], after: readonly ComparedMessage[]): MessagePair[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, index): MessagePair[] => {
    const pair = { before: before[index] ?? null, after: after[index] ?? null, isSame: false };
    if (!pair.before || !pair.after || pair.before.role === pair.after.role) return [pair];
    return [
      { ...pair, after: null },
      { ...pair, before: null },
    ];
  }).flat();
}

/** Two conversations message by message. Equal messages are next to each other, and changed ones next to their counterparts. */
export function pairMessages(before: readonly ComparedMessage[], after: readonly ComparedMessage[]): MessagePair[] {
  const keyOf = (message: ComparedMessage) => `${message.role} ${contentOf(message)}`;
  const changes = diffArrays(before.map(keyOf), after.map(keyOf), { timeout: timeoutMs }) as
    ReturnType<typeof diffArrays> | undefined;
  if (!changes) return pairChanged(before, after);
  const pairs: MessagePair[] = [];
  let [oldAt, freshAt, oldEnd, freshEnd] = [0, 0, 0, 0];
  const flush = (): void => {
    pairs.push(...pairChanged(before.slice(oldAt, oldEnd), after.slice(freshAt, freshEnd)));
    [oldAt, freshAt] = [oldEnd, freshEnd];
  };
  for (const { added, removed, count } of changes) {
    if (added) freshEnd += count;
    else if (removed) oldEnd += count;
    else {
      flush();
      for (let index = 0; index < count; index += 1)
        pairs.push({ before: before[oldAt + index]!, after: after[freshAt + index]!, isSame: true });
      oldAt += count;
      freshAt += count;
      [oldEnd, freshEnd] = [oldAt, freshAt];
    }
  }
  flush();
  return pairs;
}

export interface PartPair {
  label: string;
  before: string | null;
  after: string | null;
}

/** The parts of two messages, each next to the one of the same kind; null if a message lacks it. */
export function pairParts(before: ComparedMessage | null, after: ComparedMessage | null): PartPair[] {
  const rest = [...(after?.parts ?? [])];
  const pairs = (before?.parts ?? []).map(({ label, text }): PartPair => {
    const index = rest.findIndex((part) => part.label === label);
    const [other] = index < 0 ? [] : rest.splice(index, 1);
    return { label, before: text, after: other?.text ?? null };
  });
  return [...pairs, ...rest.map(({ label, text }): PartPair => ({ label, before: null, after: text }))];
}
