import { CircleX, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { ProviderTest } from '../../../../shared/contract/providers.ts';
import { formatDuration, formatPlural, formatTime } from '../../../components/format.ts';
import type { Tone } from '../../../components/marks.tsx';

export interface TestState {
  tone: Tone;
  icon?: LucideIcon;
  word: string;
}

const failed = {
  refused: { tone: 'negative', icon: CircleX, word: 'Rejected' },
  unreachable: { tone: 'caution', icon: TriangleAlert, word: 'Unreachable' },
  silent: { tone: 'caution', icon: TriangleAlert, word: 'Not responding' },
  failed: { tone: 'negative', icon: CircleX, word: 'Failed' },
} as const;

/** The mark of a provider or an endpoint after its last test; `good` is the word when nothing is wrong. */
export function testState(test: ProviderTest | null, good: string): TestState {
  if (!test || test.outcome === 'ok') return { tone: 'positive', word: good };
  return failed[test.outcome];
}

/** `Tested 14:02, 214 ms, 46 models`, or what it answered. */
export function testSummary(test: ProviderTest): string {
  const when = `Tested ${formatTime(test.testedAt)}`;
  if (test.outcome === 'ok')
    return `${when}, ${formatDuration(test.milliseconds)}, ${formatPlural(test.models, 'model')}`;
  if (test.status !== null) return `${when}, HTTP ${test.status}`;
  return `${when}, no response in ${formatDuration(test.milliseconds)}`;
}
