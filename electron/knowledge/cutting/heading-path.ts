import { endWithin, estimateEmbeddingTokens } from './token-estimate.ts';

export interface HeadingPath {
  /** Told of each heading in the order of the text; `level` counts from 0, the outermost. */
  enter(level: number, text: string): void;
  /** The headings that stand above what follows; `null` before the first one. */
  readonly text: string | null;
  readonly tokens: number;
}

const separator = ' › ';
const mostCharacters = 200;
const mostCharactersOfOne = 100;
/** A passage needs the room itself: the embeddings read 256 tokens of both together. */
const mostTokens = 48;

function shorten(heading: string): string {
  const plain = heading.replace(/\s+/gu, ' ').trim();
  const end = endWithin(plain, 0, Math.min(plain.length, mostCharactersOfOne), mostTokens / 2);
  if (end >= plain.length) return plain;
  return `${plain
    .slice(0, Math.max(1, end - 1))
    .toWellFormed()
    .replace(/\uFFFD$/u, '')
    .trimEnd()}…`;
}

/** The innermost headings say most about what follows: those above give way. */
function joinWithin(headings: readonly string[]): string {
  for (let first = 0; ; first += 1) {
    const joined = (first > 0 ? ['…', ...headings.slice(first)] : headings).join(separator);
    const fits = joined.length <= mostCharacters && estimateEmbeddingTokens(joined) <= mostTokens;
    if (fits || first >= headings.length - 1) return joined;
  }
}

export function createHeadingPath(): HeadingPath {
  let stack: { readonly level: number; readonly text: string }[] = [];
  let text: string | null = null;
  let tokens = 0;
  return {
    enter(level, heading) {
      const short = shorten(heading);
      if (short === '') return;
      stack = stack.filter((above) => above.level < level);
      // A title is often repeated as the first heading.
      if (stack.at(-1)?.text === short) stack.pop();
      stack.push({ level, text: short });
      text = joinWithin(stack.map((entry) => entry.text));
      tokens = estimateEmbeddingTokens(text);
    },
    get text() {
      return text;
    },
    get tokens() {
      return tokens;
    },
  };
}
