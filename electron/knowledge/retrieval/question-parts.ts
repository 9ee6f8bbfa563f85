/** More parts than these are not looked for by themselves: each of them is a search. */
const mostParts = 3;

const sentenceEnds = /(?<=[.!?…]["'”’)\]]*)\s+|(?<=[。！？])|\n+/u;

/** The sentences of a text that end with a question mark. */
export function askedSentences(text: string): string[] {
  return text
    .split(sentenceEnds)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[?？]["'”’)\]]*$/u.test(sentence));
}

const questionWord = '(?:how|what|when|where|which|who|whom|whose|why)';
const verbAndSubject =
  '(?:can|could|may|must|should|do|does|did|is|are|was|were|will|would)\\s+(?:I|we|you|there|the|an?|my|our|your)';

/** Where a second question begins within a sentence: "…, and how long does the trial last?" */
const betweenClauses = new RegExp(`[,;]?\\s+(?:and|or|but)\\s+(?=(?:${questionWord}|${verbAndSubject})\\s)`, 'iu');

/** Without what was asked before nobody knows what these mean, and nearly every passage is a little like them. */
const pointsBack =
  /(?<!\p{L})(?:it|its|they|them|their|theirs|that|this|these|those|he|him|his|she|her|hers|one|ones|so)(?!\p{L})/iu;

/** A part with fewer words says too little to be searched by itself. */
const leastWords = 4;

function speaksForItself(part: string): boolean {
  return part.split(/\s+/u).length >= leastWords && !pointsBack.test(part);
}

/**
 * What a text of several questions asks one after the other, in English also within a sentence; at most three. Empty when it asks
 * one thing alone. A passage that answers one part is far from the whole, which is why parts are searched by themselves as well.
 */
export function questionParts(text: string): string[] {
  const parts = askedSentences(text).flatMap((sentence) => sentence.split(betweenClauses));
  return parts.length < 2 ? [] : parts.filter(speaksForItself).slice(0, mostParts);
}
