import { Readable } from 'node:stream';
import {
  createAuditExport,
  deleteAuditExport,
  downloadAuditExport,
  followAuditExports,
  listAuditExports,
  previewRedaction,
  resumeAuditExport,
  stopAuditExport,
} from '../../shared/contract/audit-exports.ts';
import type { Exports } from '../audit/evidence/create-exports.ts';
import type { ExportDownload } from '../audit/evidence/open-pack.ts';
import type { Log } from '../log.ts';
import { followAnswer } from './follow-answer.ts';
import { followList } from './follow-list.ts';
import { implement, type Handler } from './handler.ts';

/** Sends a pack to be saved. What stands in it is other people's text: a browser may not run it as a page of ours. */
function sendPack({ fileName, bytes, stream }: ExportDownload): Response {
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${fileName}"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      ...(bytes === null ? {} : { 'content-length': String(bytes) }),
    },
  });
}

export function auditExportHandlers(exports: Exports, reportFailure: Log): Handler[] {
  return [
    implement(previewRedaction, ({ body, signal }) => exports.preview(body, { signal })),
    implement(createAuditExport, ({ body }) => exports.create(body)),
    implement(listAuditExports, () => ({ data: exports.list() })),
    implement(followAuditExports, (input) =>
      followAnswer(input, (signal) => followList(exports, signal), reportFailure),
    ),
    implement(stopAuditExport, ({ parameters }) => exports.stop(parameters.id)),
    implement(resumeAuditExport, ({ parameters }) => exports.resume(parameters.id)),
    implement(deleteAuditExport, ({ parameters }) => exports.remove(parameters.id)),
    implement(downloadAuditExport, async ({ parameters }) => sendPack(await exports.download(parameters.id))),
  ];
}
