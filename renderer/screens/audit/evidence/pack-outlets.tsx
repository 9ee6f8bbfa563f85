import { useMutation } from '@tanstack/react-query';
import { Download, FolderOpen } from 'lucide-react';
import { downloadAuditExport, type AuditExport } from '../../../../shared/contract/audit-exports.ts';
import { openExportFolder } from '../../../../shared/contract/desktop.ts';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
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

/** The way to the files of a complete pack: their folder where the window is on the same machine, otherwise one zip. */
export function PackOutlets({ pack }: { pack: AuditExport }) {
  const canOpen = useCapability('open-folder');
  if (canOpen) return <OpenFolder id={pack.id} />;
  return (
    <a className="button button--small" href={downloadAuditExport.path.replace('{id}', pack.id)} download>
      <Icon icon={Download} size="small" />
      Download
    </a>
  );
}
