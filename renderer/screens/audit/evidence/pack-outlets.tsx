import { Download } from 'lucide-react';
import type { AuditExport } from '../../../../shared/contract/audit-exports.ts';
import { downloadAuditExport } from '../../../../shared/contract/audit-exports.ts';
import { Icon } from '../../../components/icon.tsx';

/** The ways to the files of a complete pack. */
export function PackOutlets({ pack }: { pack: AuditExport }) {
  return (
    <a className="button button--small" href={downloadAuditExport.path.replace('{id}', pack.id)} download>
      <Icon icon={Download} size="small" />
      Download
    </a>
  );
}
