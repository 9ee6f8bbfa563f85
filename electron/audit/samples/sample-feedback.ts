import type { SampleFeedback } from '../../storage/sample-store.ts';
import type { Chance } from './chance.ts';

interface Opinion {
  readonly text: string | null;
  readonly tags: string | null;
}

const good: readonly Opinion[] = [
  { text: 'Can be sent as it is.', tags: 'accurate,tone' },
  { text: 'Found the clause that I had missed.', tags: 'accurate,helpful' },
  { text: 'Exactly the right length.', tags: 'concise' },
  { text: null, tags: 'helpful' },
  { text: 'Better than the template we had.', tags: 'tone,helpful' },
];
const middling: readonly Opinion[] = [
  { text: 'Right, but twice as long as it needs to be.', tags: 'too long' },
  { text: 'Had to correct the date.', tags: 'accurate' },
  { text: null, tags: null },
];
const bad: readonly Opinion[] = [
  { text: 'Promises a refund that the policy does not give.', tags: 'wrong,policy' },
  { text: 'Repeats personal data that was not needed.', tags: 'privacy' },
  { text: 'Invented an order number.', tags: 'wrong,made up' },
  { text: 'Wrong tone for an angry customer.', tags: 'tone' },
];

/** What somebody thought of a run some hours later; null for four of five. */
export function sampleFeedback(chance: Chance, runId: string, completedAt: number, now: number): SampleFeedback | null {
  if (!chance.happens(0.22)) return null;
  const mood = chance.next();
  const { text, tags } = chance.pick(mood < 0.55 ? good : mood < 0.78 ? middling : bad);
  const score = mood < 0.55 ? chance.between(5, 10) : mood < 0.78 ? chance.between(-1, 4) : chance.between(-10, -3);
  const updatedAt = Math.min(now, completedAt + chance.between(1, 48) * 3_600_000);
  return { runId, score, scoreText: text, scoreTags: tags, updatedAt };
}
