import { askedSentences } from '../retrieval/question-parts.ts';

/** Texts up to this length are searched whole: about what the embedding model reads. */
const wholeCharacters = 1000;

/** The end of a text, without a broken word at its beginning. */
function endOf(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const end = text.slice(-characters);
  const space = end.search(/\s/u);
  return space < 0 ? end : end.slice(space + 1);
}

/**
 * What of a prompt is searched. A short one is a question as it stands. Of a long one it is the sentences that ask something, the
 * last ones first of all, and then its end: people put the task after the material.
 */
export function questionOf(prompt: string): string {
  const text = prompt.trim();
  if (text.length <= wholeCharacters) return text;
  const questions = askedSentences(text);
  let asked = '';
  for (const question of questions.toReversed()) {
    const longer = asked === '' ? question : `${question} ${asked}`;
    if (longer.length > wholeCharacters / 2) break;
    asked = longer;
  }
  const rest = endOf(text, wholeCharacters - asked.length - 1);
  return asked === '' ? rest : `${asked}\n${rest}`;
}
