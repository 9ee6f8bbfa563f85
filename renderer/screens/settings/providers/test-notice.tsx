import { useState } from 'react';
import type { ProviderTest } from '../../../../shared/contract/providers.ts';
import { formatDuration } from '../../../components/format.ts';
import { Notice } from '../../../components/state-panels.tsx';

/** The first sentence says what refused, the rest what to do. */
function Message({ text }: { text: string }) {
  const [, reason = text, remedy = ''] = /^(.+?\.)\s+(\S.*)$/s.exec(text) ?? [];
  return (
    <>
      <strong>{reason}</strong> {remedy}
    </>
  );
}

/** Why the last test failed and what to do, with the bare facts of the answer for those who look. */
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
