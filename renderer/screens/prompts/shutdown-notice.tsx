import { Link } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { Notice } from '../../components/state-panels.tsx';
import { versionDraftAddress } from '../../shell/addresses.ts';
import { calendarDate } from '../playground/format.ts';
import { shutdownMark } from '../playground/model/model-list.ts';

/** Says that the model of a version ends, and offers its replacement for a try. */
export function ShutdownNotice({ model, version }: { model: Model; version: Pick<PromptVersion, 'id' | 'promptId'> }) {
  const mark = shutdownMark(model, new Date());
  if (!mark || model.shutdownDate === null) return null;
  const isOver = model.hasEnded || mark.days < 0;
  return (
    <Notice tone={mark.tone}>
      {model.name} {isOver ? 'was shut down' : 'will be shut down'} on {calendarDate(model.shutdownDate)}.{' '}
      {model.replacement !== null && (
        <>
          Its provider names {model.replacement} in its place.{' '}
          <Link className="link" href={versionDraftAddress(version.promptId, version.id, model.replacement)}>
            Try it with {model.replacement}
          </Link>
        </>
      )}
    </Notice>
  );
}
