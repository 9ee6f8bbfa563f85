import { useState } from 'react';
import { Link } from 'wouter';
import type { Model } from '../../../shared/contract/providers.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { Notice } from '../../components/state-panels.tsx';
import { versionDraftAddress } from '../../shell/addresses.ts';
import { ReplayDialog } from '../../components/replay-dialog.tsx';
import { shutdownBadge } from '../../components/models/model-list.ts';
import { formatDate } from '../../components/format.ts';
import { runCount } from './usage-text.ts';
import { useToday } from '../../components/use-today.ts';

interface ShutdownNoticeProps {
  model: Model;
  version: Pick<PromptVersion, 'id' | 'promptId' | 'number'>;
  /** How often the version ran. */
  runs: number;
}

/** The replacement of a model: opened in the playground, and put beside the runs that the version has had. */
function Replacement({ model, replacement, version, runs }: ShutdownNoticeProps & { replacement: string }) {
  const [isComparing, setComparing] = useState(false);
  return (
    <>
      The provider recommends {replacement}.{' '}
      <Link className="link" href={versionDraftAddress(version.promptId, version.id, replacement)}>
        Try {replacement}
      </Link>
      {runs > 0 && (
        <>
          {' or '}
          <button type="button" className="link" onClick={() => setComparing(true)}>
            compare with its {runs === 1 ? 'run' : 'runs'}
          </button>
        </>
      )}
      {isComparing && (
        <ReplayDialog
          selection={{ filter: { promptVersionId: version.id } }}
          subject={`${runCount({ runs })} of version ${version.number}`}
          promptText={null}
          model={{ aiSystem: model.aiSystem, name: replacement }}
          isOpen
          onClose={() => setComparing(false)}
        />
      )}
    </>
  );
}

/** Says that the model of a version ends, and offers its replacement for a try. */
export function ShutdownNotice(props: ShutdownNoticeProps) {
  const { model } = props;
  const today = useToday();
  const mark = shutdownBadge(model, today);
  if (!mark || model.shutdownDate === null) return null;
  const isOver = model.hasEnded || mark.days < 0;
  return (
    <Notice tone={mark.tone}>
      {model.name} {isOver ? 'retired' : 'retires'} on {formatDate(model.shutdownDate)}.{' '}
      {model.replacement !== null && <Replacement {...props} replacement={model.replacement} />}
    </Notice>
  );
}
