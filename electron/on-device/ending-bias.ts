import type { LlamaModel, Token, TokenBias } from 'node-llama-cpp';

/** Logits of a model are between about -30 and 30, so a preference wins over each of them. */
const strong = 200;
const weak = 100;

/** How much a token is preferred where JSON should end soon. The grammar still decides what is allowed. */
function preference(text: string, isInsideText: boolean): number {
  if (isInsideText) return /^"[\]}]*$/.test(text) ? strong : 0;
  if (/^[\]}]+$/.test(text)) return strong;
  // An empty text, or what a property needs.
  if (/^"+[\]}]*$/.test(text)) return weak;
  if (text === ',') return weak / 2;
  return /^\s+$/.test(text) || /[[{\s]/.test(text) ? -weak : 0;
}

/** Scans JSON and reports whether its end is inside a text. */
class TextTracker {
  isInside = false;
  #isEscaped = false;

  read(json: string): void {
    for (const character of json) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.isInside && character === '\\') this.#isEscaped = true;
      else if (character === '"') this.isInside = !this.isInside;
    }
  }
}

export interface EndingBias {
  /** Called with the tokens of the answer as they come. */
  readonly read: (tokens: readonly Token[]) => void;
  readonly current: () => TokenBias;
}

/** Tokens that a value needs to end, from the bytes that it needs: models write two or more bytes of JSON per token. */
function tokensToEnd(endBytes: number, maxTokens: number): number {
  return Math.min(Math.ceil(endBytes / 2) + 16, Math.floor(maxTokens / 2));
}

const biases = new WeakMap<LlamaModel, readonly [TokenBias, TokenBias]>();

/** One pass over the vocabulary, which takes about 0.1 s. */
function biasesOf(model: LlamaModel, create: () => TokenBias): readonly [TokenBias, TokenBias] {
  let both = biases.get(model);
  if (both) return both;
  both = [create(), create()];
  for (const token of model.iterateAllTokens()) {
    const text = model.detokenize([token]);
    for (const [index, bias] of both.entries()) {
      const logit = preference(text, index === 1);
      if (logit !== 0) bias.set(token, { logit });
    }
  }
  biases.set(model, both);
  return both;
}

/**
 * Makes an answer with a grammar end before its tokens do. While many are left it changes nothing. Then it prefers what closes texts,
 * lists and objects over what goes on.
 */
export function createEndingBias(
  model: LlamaModel,
  create: () => TokenBias,
  { endBytes, maxTokens }: { readonly endBytes: number; readonly maxTokens: number },
): EndingBias {
  const tracker = new TextTracker();
  const none = create();
  const start = maxTokens - tokensToEnd(endBytes, maxTokens);
  let count = 0;
  return {
    read(tokens) {
      count += tokens.length;
      tracker.read(model.detokenize([...tokens]));
    },
    current() {
      if (count < start) return none;
      const [outside, inside] = biasesOf(model, create);
      return tracker.isInside ? inside : outside;
    },
  };
}
