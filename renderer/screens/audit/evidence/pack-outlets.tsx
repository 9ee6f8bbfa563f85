import { useMutation } from '@tanstack/react-query';
import { Download, FolderOpen } from 'lucide-react';
import type { AuditExport } from '../../../../shared/contract/audit-exports.ts';
import { createExportDownload } from '../../../../shared/contract/browser.ts';
import { openExportFolder } from '../../../../shared/contract/desktop.ts';
import { Button } from '../../../components/button.tsx';
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

/** The browser saves the pack by navigation: as a response to a script, a large pack would have to fit into memory. */
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

/** The way to the files of a complete pack: their folder where the window is on the same machine, otherwise one zip. */
export function PackOutlets({ pack }: { pack: AuditExport }) {
  const canOpen = useCapability('open-folder');
  return canOpen ? <OpenFolder id={pack.id} /> : <DownloadPack id={pack.id} />;
}
