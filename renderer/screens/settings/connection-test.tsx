import { CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { ProviderTest } from '../../../shared/contract/providers.ts';
import { Button } from '../../components/button.tsx';
import { formatDuration, formatPlural, formatTime } from '../../components/format.ts';
import type { Tone } from '../../components/badges.tsx';
import { Notice } from '../../components/state-panels.tsx';

interface TestState {
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

/** The badge of a provider or an endpoint after its last test; `good` is its text after a success. */
export function testState(test: ProviderTest | null, good: string): TestState {
  if (!test || test.outcome === 'ok') return { tone: 'positive', word: good };
  return failed[test.outcome];
}

/** `Tested 14:02, 214 ms, 46 models`, or the error. */
export function testSummary(test: ProviderTest): string {
  const when = `Tested ${formatTime(test.testedAt)}`;
  if (test.outcome === 'ok')
    return `${when}, ${formatDuration(test.milliseconds)}, ${formatPlural(test.models, 'model')}`;
  if (test.status !== null) return `${when}, HTTP ${test.status}`;
  return `${when}, no response in ${formatDuration(test.milliseconds)}`;
}

interface TestButtonsProps {
  /** The name of the provider or endpoint. */
  name: string;
  isTesting: boolean;
  onTest: () => void;
  isCapabilityTestOpen: boolean;
  onCapabilities: () => void;
}

/** Buttons to test the connection and to open the capability test. */
export function TestButtons({ name, isTesting, onTest, isCapabilityTestOpen, onCapabilities }: TestButtonsProps) {
  return (
    <>
      <Button size="small" isBusy={isTesting} onClick={onTest}>
        Test
      </Button>
      <Button
        size="small"
        aria-label={`Capabilities of ${name}`}
        aria-expanded={isCapabilityTestOpen}
        onClick={onCapabilities}
      >
        Capabilities
      </Button>
    </>
  );
}

/** The first sentence names the failure, the rest the fix. */
export function Message({ text }: { text: string }) {
  const [, reason = text, remedy = ''] = /^(.+?\.)\s+(\S.*)$/s.exec(text) ?? [];
  return (
    <>
      <strong>{reason}</strong> {remedy}
    </>
  );
}

/** Why the stored key can't be read and how to fix it. */
export function KeyNotice({ failure }: { failure: string }) {
  return (
    <div className="provider__notice">
      <Notice tone="caution">
        <Message text={failure} />
      </Notice>
    </div>
  );
}

/** Why the last test failed and how to fix it, with the raw details. */
export function TestNotice({ test, baseAddress }: { test: ProviderTest | null; baseAddress: string }) {
  const [isAnswerShown, setAnswerShown] = useState(false);
  if (!test || test.outcome === 'ok') return null;
  return (
    <div className="provider__notice">
      <Notice tone={test.outcome === 'silent' || test.outcome === 'unreachable' ? 'caution' : 'negative'}>
        <Message text={test.message ?? 'The test failed. Test again.'} />{' '}
        <button
          type="button"
          className="link"
          aria-expanded={isAnswerShown}
          onClick={() => setAnswerShown(!isAnswerShown)}
        >
          {isAnswerShown ? 'Hide response' : 'Show response'}
        </button>
        {isAnswerShown && (
          <dl className="provider__answer">
            <dt>Request</dt>
            <dd className="mono--small">GET {baseAddress.replace(/\/$/, '')}/models</dd>
            <dt>Response</dt>
            <dd>
              {test.status === null ? 'None' : `HTTP ${test.status}`} after {formatDuration(test.milliseconds)}
            </dd>
          </dl>
        )}
      </Notice>
    </div>
  );
}
