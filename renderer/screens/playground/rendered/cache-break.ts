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

/** Where `now` first differs from `before`; null when it has nothing new, or when the common beginning is too short to be cached. */
export function findCacheBreak(now: readonly SentMessage[], before: readonly SentMessage[]): CacheBreak | null {
  let sharedCharacters = 0;
  for (const [message, { role, text }] of now.entries()) {
    const other = before[message];
    const offset = other?.role === role ? commonText(text, other.text) : 0;
    sharedCharacters += offset;
    const isSame = offset === text.length && (text.length === other?.text.length || message === now.length - 1);
    if (isSame && other?.role === role) continue;
    const sharedTokens = Math.ceil(sharedCharacters / charactersPerToken);
    return sharedTokens < minCacheableTokens ? null : { message, offset, sharedTokens };
  }
  return null;
}
