/** Assumed for models with an unknown context size, such as those of many local servers. */
export const assumedContextTokens = 4096;

/** The maximum number of tokens per character in ordinary text, with the tokenizers that use the most (Llama 2, for example). */
function tokensOf(code: number): number {
  if ((code >= 97 && code <= 122) || code === 32) return 1 / 3;
  if (code >= 65 && code <= 90) return 1 / 2;
  if (code < 0x0900) return 1;
  const isHalfOfPair = code >= 0xd800 && code <= 0xdfff;
  return isHalfOfPair ? 2 : 1.75;
}

/**
 * A high estimate of a text's tokens for any tokenizer. A high estimate drops one more turn of the history; a low one would fail
 * the run.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += tokensOf(text.charCodeAt(index));
  return Math.ceil(tokens);
}
