import { Download, FileText, FolderOpen, Play, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import type { AuditExport } from '../../../../shared/contract/audit-exports.ts';
import { Button, CopyButton, IconButton } from '../../../components/button.tsx';
import { formatBytes, formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { Badge, Progress } from '../../../components/badges.tsx';
import { EmptyState, Notice } from '../../../components/state-panels.tsx';
import { useChangeAuditExport } from '../../../queries/audit-jobs.ts';
import { createExportDownload, openExportFolder } from '../../../../shared/contract/host-specific.ts';
import { useCapability, useHost } from '../../../host/host-context.tsx';

function OpenFolder({ id }: Pick<AuditExport, 'id'>) {
  const { client } = useHost();
  const open = useMutation({ mutationFn: () => client.call(openExportFolder, { parameters: { id } }) });
  return (
    <Button size="small" icon={FolderOpen} isBusy={open.isPending} onClick={() => open.mutate()}>
      Open folder
    </Button>
  );
}

/** The browser saves the pack by navigation: a script would have to hold the whole response in memory. */
function DownloadPack({ id }: Pick<AuditExport, 'id'>) {
  const { client } = useHost();
  const download = useMutation({
    mutationFn: () => client.call(createExportDownload, { parameters: { id } }),
    onSuccess: ({ address }) => {
      const link = document.createElement('a');
      link.href = address;
      link.download = '';
      link.click();
    },
  });
  return (
    <Button size="small" icon={Download} isBusy={download.isPending} onClick={() => download.mutate()}>
      Download
    </Button>
  );
}

/** Opens the files of a complete pack: their folder if the window is on the same machine, otherwise one zip. */
function PackOutlets({ pack }: { pack: AuditExport }) {
  const canOpen = useCapability('open-folder');
  return canOpen ? <OpenFolder id={pack.id} /> : <DownloadPack id={pack.id} />;
}

const steps: Record<NonNullable<AuditExport['step']>, string> = {
  selecting: 'Selecting runs',
  writing: 'Writing',
  checking: 'Computing checksums',
  packing: 'Packing',
};

function PackProgress({ pack }: { pack: AuditExport }) {
  const { conversationsDone: done, conversationsTotal: total } = pack;
  return (
    <>
      <Progress label={`Progress of ${pack.name}`} fraction={total === 0 ? null : done / total} />
      <p className="caption tertiary numbers">
        {pack.step ? steps[pack.step] : 'Queued'}, {formatWhole(done)} of {formatPlural(total, 'conversation')},{' '}
        {formatPlural(pack.runsDone, 'run')}, {formatBytes(pack.bytes)}
      </p>
    </>
  );
}

function Files({ pack }: { pack: AuditExport }) {
  return (
    <table className="table figures">
      <thead>
        <tr>
          <th scope="col">File</th>
          <th scope="col" className="right">
            Size
          </th>
          <th scope="col">SHA-256</th>
        </tr>
      </thead>
      <tbody>
        {pack.files.map(({ name, bytes, sha256 }) => (
          <tr key={name}>
            <td>{name}</td>
            <td className="right">{formatBytes(bytes)}</td>
            <td>
              <span className="row">
                <span className="mono--small truncate">
                  {sha256.slice(0, 12)}…{sha256.slice(-12)}
                </span>
                <CopyButton text={sha256} label={`Copy SHA-256 of ${name}`} isIconOnly size="small" />
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const states = {
  running: { word: 'In progress', tone: 'accent' },
  stopped: { word: 'Stopped', tone: 'neutral' },
  completed: { word: 'Complete', tone: 'positive' },
  failed: { word: 'Failed', tone: 'negative' },
} as const;

function PackCard({ pack }: { pack: AuditExport }) {
  const { mutate } = useChangeAuditExport();
  const [areFilesOpen, setFilesOpen] = useState(false);
  const { word, tone } = states[pack.state];
  const canResume = pack.state === 'stopped' || pack.state === 'failed';
  return (
    <article className="pack card" aria-label={pack.name}>
      <div className="row">
        <h3 className="medium truncate">{pack.name}</h3>
        <Badge tone={tone}>{word}</Badge>
        <span className="caption tertiary nowrap">{formatTime(pack.createdAt)}</span>
        <span className="grow" />
        {pack.state === 'running' && (
          <Button size="small" icon={Square} onClick={() => mutate({ id: pack.id, change: 'stop' })}>
            Stop
          </Button>
        )}
        {canResume && (
          <Button size="small" icon={Play} onClick={() => mutate({ id: pack.id, change: 'resume' })}>
            Resume
          </Button>
        )}
        {pack.state === 'completed' && <PackOutlets pack={pack} />}
        <IconButton
          icon={Trash2}
          label={`Delete ${pack.name}`}
          size="small"
          onClick={() => mutate({ id: pack.id, change: 'delete' })}
        />
      </div>
      {pack.state !== 'completed' && <PackProgress pack={pack} />}
      {pack.failure && <Notice tone="negative">{pack.failure}</Notice>}
      {pack.state === 'completed' && (
        <div className="row">
          <span className="caption tertiary numbers">
            {formatPlural(pack.conversationsTotal, 'conversation')}, {formatPlural(pack.runsDone, 'run')},{' '}
            {formatBytes(pack.bytes)}
          </span>
          <Button
            size="small"
            variant="quiet"
            icon={FileText}
            aria-expanded={areFilesOpen}
            onClick={() => setFilesOpen(!areFilesOpen)}
          >
            Files and checksums
          </Button>
        </div>
      )}
      {areFilesOpen && <Files pack={pack} />}
    </article>
  );
}

/** Active and complete packs, newest first. */
export function PackList({ packs }: { packs: readonly AuditExport[] }) {
  if (packs.length === 0) {
    return (
      <EmptyState title="No packs yet" reason="Packs are created in the background and can be stopped and resumed." />
    );
  }
  return (
    <div className="pack__list">
      {packs.map((pack) => (
        <PackCard key={pack.id} pack={pack} />
      ))}
    </div>
  );
}
