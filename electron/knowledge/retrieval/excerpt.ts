import { sentencesOf } from '../chunking/sentences.ts';
import { stopWords } from '../index/stop-words.ts';
import { tokensOf } from '../index/words-of.ts';
import type { TextEmbedder } from '../text-embedder.ts';

/** A part of a passage's text; both ends count from the beginning of the text. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

function dotProduct(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * other[index]!, 0);
}

/** What holding all words of the question weighs beside meaning, about as among passages. */
const wordsWeight = 0.43;

/** The square of the share of a question's words that each text holds. */
function sharesHeld(question: string, texts: readonly string[]): number[] {
  const asked = [...tokensOf(question)].filter((word) => !stopWords.has(word));
  return texts.map((text) => {
    const held = tokensOf(text);
    return (asked.filter((word) => held.has(word)).length / Math.max(1, asked.length)) ** 2;
  });
}

/** Widens a span by its neighbours as far as it stays within the limit: first by what stands before, which says what "it" is. */
function widened(sentences: readonly TextSpan[], best: number, characters: number): TextSpan {
  let first = best;
  let last = best;
  const fits = (from: number, to: number) =>
    sentences[from] !== undefined &&
    sentences[to] !== undefined &&
    sentences[to].end - sentences[from].start <= characters;
  for (;;) {
    if (fits(first - 1, last)) first -= 1;
    else if (fits(first, last + 1)) last += 1;
    else return { start: sentences[first]!.start, end: sentences[last]!.end };
  }
}

function spansOf(text: string): TextSpan[] {
  return [...sentencesOf(text)].map((part) => ({ start: part.start, end: part.start + part.text.length }));
}

interface EmbeddingOptions {
  readonly embedder: TextEmbedder;
  readonly signal: AbortSignal;
}

/** How near each sentence is to a question in meaning and words. */
async function scoresOf(question: string, texts: readonly string[], { embedder, signal }: EmbeddingOptions) {
  const [asked, ...vectors] = await embedder.embed([question, ...texts], { signal });
  const held = sharesHeld(question, texts);
  return vectors.map((vector, place) => dotProduct(asked!, vector) + wordsWeight * held[place]!);
}

const indexOfBest = (scores: readonly number[]) => scores.indexOf(Math.max(...scores));

/**
 * The sentence of a text that a question is about: the one that has more of its words than every other, or else the nearest by meaning.
 * Rejects with an `AbortError` when the signal ends it.
 */
export async function matchingSentence(text: string, question: string, options: EmbeddingOptions): Promise<TextSpan> {
  const sentences = spansOf(text);
  if (sentences.length < 2) return { start: 0, end: text.length };
  const texts = sentences.map(({ start, end }) => text.slice(start, end));
  const held = sharesHeld(question, texts);
  const [first = 0, second = 0] = held.toSorted((one, other) => other - one);
  return sentences[indexOfBest(first > second ? held : await scoresOf(question, texts, options))]!;
}

/**
 * The sentences of a text that are nearest to a question in meaning and words, in a row and within so many characters; a single sentence may be
 * longer. Rejects with an `AbortError` when the signal ends it.
 */
export async function excerptOf(
  text: string,
  question: string,
  characters: number,
  options: EmbeddingOptions,
): Promise<TextSpan> {
  const sentences = spansOf(text);
  if (text.length <= characters || sentences.length < 2) return { start: 0, end: text.length };
  const texts = sentences.map(({ start, end }) => text.slice(start, end));
  return widened(sentences, indexOfBest(await scoresOf(question, texts, options)), characters);
}
