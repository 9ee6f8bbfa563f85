import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { formatDate, formatTime } from '../../components/format.ts';
import { Notice } from '../../components/state-panels.tsx';
import { readVersion, versionChange } from '../../drafts/draft-version.ts';
import { draftAddress, versionDraftAddress } from '../../shell/addresses.ts';
import { useDrafts } from '../../stores/playground-drafts.ts';
import { showToast } from '../../stores/toasts.ts';
import { VersionDifferences } from '../../components/diff/version-diff.tsx';
import type { LibraryDraft } from './use-library-drafts.ts';
import type { Model } from '../../../shared/contract/providers.ts';
import { ReplayDialog } from '../../components/replay-dialog.tsx';
import { shutdownBadge } from '../../components/models/model-list.ts';
import { runCount } from './library-model.ts';
import { useToday } from '../../components/use-today.ts';

/** A draft as a version. An invalid draft has the settings of its version. */
function draftedVersion({ draft, version }: LibraryDraft): PromptVersion {
  const read = readVersion(draft, version);
  const { promptText, systemMessage } = draft;
  const { variables } = version;
  if ('problem' in read) return { ...version, promptText, systemMessage };
  return {
    ...version,
    promptText,
    systemMessage: systemMessage === '' ? null : systemMessage,
    aiSystem: draft.aiSystem,
    model: draft.model,
    configuration: read.version.configuration ?? null,
    variables,
  };
}

/** Reverts the draft to its version; a toast offers Undo. */
function discard({ draft, version }: LibraryDraft): void {
  const { id, updatedAt: _updatedAt, ...contents } = draft;
  const { change } = useDrafts.getState();
  change(id, versionChange(version, draft));
  showToast({
    tone: 'neutral',
    text: `Discarded edits to version ${version.number}.`,
    action: { label: 'Undo', run: () => change(id, contents) },
  });
}

/** Shows that a prompt has unsaved edits, and offers to continue, save or discard them. */
export function DraftNotice({ edited }: { edited: LibraryDraft }) {
  const { draft, version } = edited;
  const [, navigate] = useLocation();
  const [isComparing, setComparing] = useState(false);
  const goOn = (): void => navigate(draftAddress(draft.id));
  const footer = (
    <>
      <Button onClick={() => setComparing(false)}>Close</Button>
      <Button variant="primary" onClick={goOn}>
        Continue editing
      </Button>
    </>
  );
  return (
    <div className="prompts__draft">
      <Notice tone="caution">
        <span className="row prompts__draft-row">
          <span className="grow">
            Edits to version {version.number} are unsaved, last edited{' '}
            {formatTime(new Date(draft.updatedAt).toISOString())}.
          </span>
          <Button size="small" onClick={goOn}>
            Continue editing
          </Button>
          <Button size="small" variant="quiet" onClick={() => setComparing(true)}>
            Show
          </Button>
          <Button size="small" variant="quiet" onClick={() => discard(edited)}>
            Discard
          </Button>
        </span>
      </Notice>
      {isComparing && (
        <Dialog
          title={`Unsaved edits to version ${version.number}`}
          isOpen
          isWide
          onClose={() => setComparing(false)}
          footer={footer}
        >
          <VersionDifferences
            before={version}
            after={draftedVersion(edited)}
            names={[`Version ${version.number}`, 'Edits']}
          />
        </Dialog>
      )}
    </div>
  );
}

interface ShutdownNoticeProps {
  model: Model;
  version: Pick<PromptVersion, 'id' | 'promptId' | 'number'>;
  /** The number of runs of the version. */
  runs: number;
}

/** Opens the replacement of a retired model in the playground, or compares it on the version's runs. */
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

/** Shows when the model of a version retires, and offers its replacement. */
export function ShutdownNotice(props: ShutdownNoticeProps) {
  const { model } = props;
  const today = useToday();
  const badge = shutdownBadge(model, today);
  if (!badge || model.shutdownDate === null) return null;
  const isOver = model.hasEnded || badge.days < 0;
  return (
    <Notice tone={badge.tone}>
      {model.name} {isOver ? 'retired' : 'retires'} on {formatDate(model.shutdownDate)}.{' '}
      {model.replacement !== null && <Replacement {...props} replacement={model.replacement} />}
    </Notice>
  );
}
