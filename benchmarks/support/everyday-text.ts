import { dataFiles, readLabelledTexts } from '../../scripts/moderation/corpus.ts';
import type { SeededRandom } from './text-writer.ts';

/** Everyday English sentences: the cost of an embedding depends on the tokens, and made-up words have two or three tokens each. */
export const everydaySentences: readonly string[] = readLabelledTexts(dataFiles.benign).map(({ text }) => text);

/** A paragraph of 3 to 12 of them, in any order. */
export function everydayParagraph(random: SeededRandom): string {
  const count = 3 + Math.floor(random.next() * 10);
  return Array.from({ length: count }, () => random.pick(everydaySentences)).join(' ');
}

/** A text of them, a different one for every number. */
export function everydayText(characters: number, number: number): string {
  let text = '';
  for (let index = number * 7; text.length < characters; index += 1) {
    text += `${everydaySentences[index % everydaySentences.length]} `;
  }
  return text.slice(0, characters);
}
