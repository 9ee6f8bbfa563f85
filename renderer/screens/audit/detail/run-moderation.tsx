import { Flag } from 'lucide-react';
import type { ConversationRun } from '../../../../shared/contract/conversations.ts';
import type { GuardFinding } from '../../../../shared/contract/guard.ts';
import { formatDuration } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';

function verdictOf({ categories, categoryScores, failure }: GuardFinding): string {
  if (failure !== null) return `Not checked: ${failure}`;
  if (categories.length === 0) return 'Not flagged';
  return `Flagged: ${categories.map((each) => `${each} ${categoryScores?.[each].toFixed(2) ?? ''}`.trim()).join(', ')}`;
}

function Side({ name, finding }: { name: string; finding: GuardFinding | null }) {
  if (finding === null) return null;
  const isFlagged = finding.categories.length > 0;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className={isFlagged ? 'row negative' : 'row'}>
          {isFlagged && <Icon icon={Flag} size="small" />}
          {verdictOf(finding)}
        </span>
        <span className="caption tertiary">
          {finding.model} in {formatDuration(finding.milliseconds)}
        </span>
        {finding.withheld !== null && (
          <details>
            <summary className="small">Withheld from the caller</summary>
            <p className="turn__text">{finding.withheld}</p>
          </details>
        )}
      </dd>
    </div>
  );
}

/** What the guard found in the run; nothing where it did not look. */
export function RunModerationPart({ run }: { run: ConversationRun }) {
  if (!run.moderation) return null;
  return (
    <article className="turn">
      <h3>Guard</h3>
      <dl className="turn__pairs">
        <Side name="Prompt" finding={run.moderation.prompt} />
        <Side name="Answer" finding={run.moderation.answer} />
      </dl>
    </article>
  );
}
