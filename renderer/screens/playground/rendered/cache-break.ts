import { commonStart } from '../../../components/editor/text-change.ts';
import { charactersPerToken } from '../../../components/format.ts';
import type { SentMessage } from '../../../components/sent-messages.ts';

/** Where a prompt first differs from another one. */
export interface CacheBreak {
  message: number;
  /** Offset in the text of that message. */
  offset: number;
  /** Estimate of the tokens before it. */
  sharedTokens: number;
}

/** Providers cache no shorter beginning: OpenAI, Anthropic and Gemini start at 1,024 tokens, some of their models higher. */
const minCacheableTokens = 1024;

/** Both halves of a character outside the basic plane stay together. */
function commonText(one: string, other: string): number {
  const length = commonStart(one, other);
  return length > 0 && /[\uD800-\uDBFF]/.test(one[length - 1]!) ? length - 1 : length;
}

/** The offset of the first file that the other message doesn't have there; null if both have the same files. */
function firstOtherFile({ files = [] }: SentMessage, other: SentMessage | undefined): number | null {
  const before = other?.files ?? [];
  const length = Math.max(files.length, before.length);
  for (let index = 0; index < length; index += 1) {
    const [one, two] = [files[index], before[index]];
    if (one?.offset !== two?.offset || one?.file.fileId !== two?.file.fileId)
      return Math.min(one?.offset ?? Infinity, two?.offset ?? Infinity);
  }
  return null;
}

/** Where `now` first differs from `before`; null when it has nothing new, or when the common beginning is too short to be cached. */
export function findCacheBreak(now: readonly SentMessage[], before: readonly SentMessage[]): CacheBreak | null {
  let sharedCharacters = 0;
  for (const [message, sent] of now.entries()) {
    const { role, text } = sent;
    const other = before[message];
    const otherFile = firstOtherFile(sent, other);
    const offset = other?.role === role ? Math.min(commonText(text, other.text), otherFile ?? Infinity) : 0;
    sharedCharacters += offset;
    const isSame =
      otherFile === null &&
      offset === text.length &&
      (text.length === other?.text.length || message === now.length - 1);
    if (isSame && other?.role === role) continue;
    const sharedTokens = Math.ceil(sharedCharacters / charactersPerToken);
    return sharedTokens < minCacheableTokens ? null : { message, offset, sharedTokens };
  }
  return null;
}
