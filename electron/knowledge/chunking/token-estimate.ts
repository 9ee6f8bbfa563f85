/**
 * Estimates the tokens of a text for the WordPiece vocabulary of the on-device embeddings. An exact count needs its vocabulary of
 * 30,000 entries and takes longer than the rest of chunking. The estimate is within a few per cent on prose, and rather too high on
 * other scripts, numbers and code.
 */

/** A Latin word up to this length is mostly one entry of the vocabulary; longer ones are split. */
const lettersOfWholeWord = 8;
const lettersPerToken = 4;
const digitsPerToken = 2;

const isDigit = (code: number) => code >= 48 && code <= 57;
const isSpace = (code: number) => code <= 32 || code === 0xa0 || (code >= 0x2000 && code <= 0x200b) || code === 0x3000;

function isLatinLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 0xc0 && code < 0x250);
}

/** Tokens of a character outside Latin words and numbers: signs, and scripts that are split into single letters. */
function tokensOfCharacter(code: number): number {
  if (code < 0x370) return 1;
  // Greek, Cyrillic, Hebrew, Arabic and the scripts of India: some syllables are in the vocabulary, most are not.
  if (code < 0x0e00) return 0.95;
  const isHangul = code >= 0xac00 && code <= 0xd7a3;
  if (isHangul) return 2.3;
  const isHalfOfPair = code >= 0xd800 && code <= 0xdfff;
  return isHalfOfPair ? 0.5 : 1;
}

/** Tokens of a sequence of Latin letters or digits. */
function tokensOfRun(length: number, isNumber: boolean): number {
  if (isNumber) return Math.max(1, length / digitsPerToken);
  return length <= lettersOfWholeWord ? Math.max(1, length / 5) : length / lettersPerToken;
}

/** The offset after the last character, from `start` on, at which the text still has at most `maxTokens`. */
export function endWithin(text: string, start: number, end: number, maxTokens: number): number {
  let tokens = 0;
  let index = start;
  while (index < end) {
    const code = text.charCodeAt(index);
    const isNumber = isDigit(code);
    let next = index + 1;
    if (isNumber || isLatinLetter(code)) {
      const belongs = isNumber ? isDigit : isLatinLetter;
      while (next < end && belongs(text.charCodeAt(next))) next += 1;
      const added = tokensOfRun(next - index, isNumber);
      if (tokens + added > maxTokens) {
        const left = maxTokens - tokens;
        // Part of a long sequence may still fit: a digest of a million letters is not a word to keep whole. A part has at least
        // one token.
        return left < 1 ? index : index + Math.floor(left * (isNumber ? digitsPerToken : lettersPerToken));
      }
      tokens += added;
    } else if (!isSpace(code)) {
      tokens += tokensOfCharacter(code);
      if (tokens > maxTokens) return index;
    }
    index = next;
  }
  return end;
}

/** The approximate tokens of the text, rounded up. */
export function estimateEmbeddingTokens(text: string): number {
  let tokens = 0;
  let letters = 0;
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isNumber = isDigit(code);
    const isLetter = !isNumber && isLatinLetter(code);
    if (letters > 0 && !isLetter) tokens += tokensOfRun(letters, false);
    if (digits > 0 && !isNumber) tokens += tokensOfRun(digits, true);
    letters = isLetter ? letters + 1 : 0;
    digits = isNumber ? digits + 1 : 0;
    if (!isLetter && !isNumber && !isSpace(code)) tokens += tokensOfCharacter(code);
  }
  if (letters > 0) tokens += tokensOfRun(letters, false);
  if (digits > 0) tokens += tokensOfRun(digits, true);
  return Math.ceil(tokens);
}
