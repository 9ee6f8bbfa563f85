import {
  createAuditExport,
  deleteAuditExport,
  downloadAuditExport,
  followAuditExports,
  listAuditExports,
  previewRedaction,
  readAuditExport,
  readAuditExportFile,
  resumeAuditExport,
  stopAuditExport,
} from '../../shared/contract/audit-exports.ts';
import type { Exports } from '../audit/exports/create-exports.ts';
import type { Log } from '../log.ts';
import { fileAnswer } from './file-answer.ts';
import { followAnswer } from './follow-answer.ts';
import { followList } from './follow-list.ts';
import { implement, type Handler } from './handler.ts';

export function auditExportHandlers(exports: Exports, reportFailure: Log): Handler[] {
  return [
    implement(previewRedaction, ({ body, signal }) => exports.preview(body, { signal })),
    implement(createAuditExport, ({ body }) => exports.create(body)),
    implement(listAuditExports, () => ({ data: exports.list() })),
    implement(followAuditExports, (input) =>
      followAnswer(input, (signal) => followList(exports, signal), reportFailure),
    ),
    implement(readAuditExport, ({ parameters }) => exports.read(parameters.id)),
    implement(stopAuditExport, ({ parameters }) => exports.stop(parameters.id)),
    implement(resumeAuditExport, ({ parameters }) => exports.resume(parameters.id)),
    implement(deleteAuditExport, ({ parameters }) => exports.remove(parameters.id)),
    implement(downloadAuditExport, async ({ parameters }) => fileAnswer(await exports.download(parameters.id))),
    implement(readAuditExportFile, ({ parameters }) =>
      fileAnswer(exports.openFile(parameters.id, parameters.fileName)),
    ),
  ];
}
