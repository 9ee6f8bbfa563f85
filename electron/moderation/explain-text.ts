import { maxExplainedPassages, type Explanation } from '../../shared/contract/moderation-window.ts';
import { categories } from '../../shared/contract/moderation.ts';
import { mostUrgent } from './analyze-text.ts';
import { worstScores, type JudgedWindow, type OnDeviceClassifier, type Scores } from './on-device-classifier.ts';
import type { Span } from './windows.ts';

/** A text of one sentence is explained by runs of words: at most this many, so that each is still worth a line. */
const maxRuns = 12;

interface Candidate {
  readonly place: Span;
  readonly urgency: number;
}

/** Runs of about equally many words, without the white space around them. */
function wordRuns(text: string, { start, end }: Span): Span[] {
  const words = [...text.slice(start, end).matchAll(/\S+/g)].map(({ index, 0: word }) => ({
    start: start + index,
    end: start + index + word.length,
  }));
  const length = Math.ceil(words.length / maxRuns);
  const count = words.length < 2 ? 0 : Math.ceil(words.length / length);
  return Array.from({ length: count }, (_, index) => {
    const run = words.slice(index * length, (index + 1) * length);
    return { start: run[0]!.start, end: run.at(-1)!.end };
  });
}

/** Windows that give the text one of its scores: leaving out a passage elsewhere changes nothing. */
function decidingWindows(judged: readonly JudgedWindow[]): JudgedWindow[] {
  const deciding = new Set(
    categories.map((category) => {
      const best = Math.max(...judged.map(({ scores }) => scores[category]));
      return judged.find(({ scores }) => scores[category] === best);
    }),
  );
  return judged.filter((each) => deciding.has(each));
}

function candidatesOf(text: string, judged: readonly JudgedWindow[]): Candidate[] {
  const found = decidingWindows(judged).flatMap(({ window }): Candidate[] => {
    const passages = window.sentences.map(({ place, sums }) => ({ place, urgency: Math.max(...Object.values(sums)) }));
    return passages.length > 0 ? passages : wordRuns(text, window.place).map((place) => ({ place, urgency: 0 }));
  });
  // Overlapping windows share sentences.
  const unique = new Map(found.map((candidate) => [candidate.place.start, candidate]));
  return [...unique.values()].toSorted((one, other) => one.place.start - other.place.start);
}

/**
 * How the scores of a text change without each passage that may have decided them: a sentence, or a few words where a window is one
 * sentence. Windows stay as they are, so that each passage costs one or two windows of 600 characters, whatever the text's length.
 */
export async function explainText(
  classifier: Pick<OnDeviceClassifier, 'judgeWindows'>,
  text: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Explanation> {
  const judged = await classifier.judgeWindows(text, { signal });
  const candidates = candidatesOf(text, judged);

  async function scoresWithout({ start, end }: Span): Promise<Scores> {
    const all: Scores[] = [];
    for (const { window, scores } of judged) {
      const { place } = window;
      if (start < place.start || end > place.end) {
        all.push(scores);
        continue;
      }
      const rest = text.slice(place.start, start) + text.slice(end, place.end);
      const judgedRest = await classifier.judgeWindows(rest, { signal });
      all.push(...judgedRest.map((each) => each.scores));
    }
    return worstScores(all);
  }

  const passages: Explanation['passages'] = [];
  for (const { place } of mostUrgent(candidates, maxExplainedPassages, ({ urgency }) => urgency)) {
    passages.push({ ...place, scores: { ...(await scoresWithout(place)) } });
  }
  return { scores: worstScores(judged.map(({ scores }) => scores)), passages, candidates: candidates.length };
}
