/** Each part is searched separately. */
const maxParts = 3;

/** Includes the punctuation before it: a look-behind over closing quotes would take quadratic time. */
const sentenceEnd = /[.!?…]["'”’)\]]*\s+|[。！？]|\n+/gu;

function sentencesOf(text: string): string[] {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

/** Of a longer text only the start and the end are read, because splitting 4 MB of question marks takes seconds. */
const maxHeadCharacters = 16_384;
const maxTailCharacters = 65_536;

function headAndTail(text: string): string {
  if (text.length <= maxHeadCharacters + maxTailCharacters) return text;
  return `${text.slice(0, maxHeadCharacters)}\n${text.slice(-maxTailCharacters)}`;
}

/** The sentences of a text that end with a question mark, with single spaces. */
export function questionSentences(text: string): string[] {
  return sentencesOf(headAndTail(text))
    .map((sentence) => sentence.replaceAll(/\s+/gu, ' ').trim())
    .filter((sentence) => /[?？]["'”’)\]]*$/u.test(sentence));
}

const questionWord = '(?:how|what|when|where|which|who|whom|whose|why)';
const verbAndSubject =
  '(?:can|could|may|must|should|do|does|did|is|are|was|were|will|would) (?:I|we|you|there|the|an?|my|our|your)';

/** Where a second question begins within a sentence: "…, and how long does the trial last?" */
const betweenClauses = new RegExp(`[,;]? (?:and|or|but) (?=(?:${questionWord}|${verbAndSubject}) )`, 'iu');

/** Parts with these words have no meaning without the rest of the question, and resemble nearly every passage a little. */
const pointsBack =
  /(?:^|[^\p{L}])(?:it|its|they|them|their|theirs|that|this|these|those|he|him|his|she|her|hers|one|ones|so)(?!\p{L})/iu;

/** Min words of a part that is searched separately. */
const minWords = 4;

function speaksForItself(part: string): boolean {
  return part.split(/\s+/u).length >= minWords && !pointsBack.test(part);
}

/**
 * The questions of a text with several of them, in English also within a sentence; at most three. Empty for a single question. A
 * passage that answers one part is far from the whole query, so parts are also searched separately.
 */
export function queryParts(text: string): string[] {
  const parts = questionSentences(text).flatMap((sentence) => sentence.split(betweenClauses));
  return parts.length < 2 ? [] : parts.filter(speaksForItself).slice(0, maxParts);
}
