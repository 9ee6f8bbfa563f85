import { Readable } from 'node:stream';
import type { AuditServices } from '../audit/create-audit-services.ts';
import type { Team } from '../team/create-team.ts';
import {
  type AuditFilter,
  type AuditReportRequest,
  type AuditSource,
  countAuditFacets,
  queryConversations,
  readAuditFacets,
  searchAudit,
  summarizeAudit,
} from '../../shared/contract/audit.ts';
import {
  createAuditView,
  deleteAuditView,
  listAuditViews,
  updateAuditView,
} from '../../shared/contract/audit-views.ts';
import { nameSampleCallers } from '../audit/samples/sample-callers.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import { LazyList } from '../storage/list-page.ts';
import { type Handler, implement } from './api.ts';
import { JsonResponse, longJsonResponse } from './json-response.ts';
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
import type { ExportDownload } from '../audit/evidence/finish-pack.ts';
import type { Log } from '../log.ts';
import { followList, followResponse } from './stream-response.ts';
import {
  createReplay,
  deleteReplay,
  followReplays,
  listReplays,
  readReplayResults,
  resumeReplay,
  retryReplay,
  stopReplay,
} from '../../shared/contract/audit-replay.ts';
import type { Replays } from '../audit/replay/create-replays.ts';
import {
  loadAuditSamples,
  previewRetention,
  readAuditSamples,
  readRetention,
  removeAuditSamples,
} from '../../shared/contract/audit-data.ts';
import type { Retention } from '../audit/retention/create-retention.ts';
import type { Samples } from '../audit/samples/create-samples.ts';

const defaultPageSize = 20;
const defaultRows = 50;

function filterOf(request: AuditReportRequest): AuditFilter {
  const { pageSize: _, continuationToken: __, includeFeedback: ___, ...filter } = request;
  return filter as AuditFilter;
}

/** The records that a request of the window chooses. */
const recordsOf = (audit: AuditStore, team: Team, source: AuditSource | undefined) =>
  source === 'team' ? team.audit : audit;

function queryHandlers(audit: AuditStore, team: Team): Handler[] {
  return [
    implement(queryConversations, async ({ body, signal }) => {
      const query = {
        filter: filterOf(body),
        pageSize: body.pageSize ?? defaultPageSize,
        continuationToken: body.continuationToken ?? null,
        hasFeedback: body.includeFeedback ?? false,
      };
      const report = await (team.servesApi ? team.audit : audit).report(query, { signal });
      return report.conversations instanceof LazyList ? longJsonResponse(report) : new JsonResponse(report);
    }),
    implement(searchAudit, ({ body: { source, ...search }, signal }) =>
      recordsOf(audit, team, source).search(
        { ...search, sort: search.sort ?? 'newest', limit: search.limit ?? defaultRows },
        { signal },
      ),
    ),
    implement(summarizeAudit, ({ body: { source, ...query }, signal }) =>
      recordsOf(audit, team, source).summarize(query, { signal }),
    ),
    implement(countAuditFacets, ({ body: { source, ...query }, signal }) =>
      recordsOf(audit, team, source).countFacets(query, { signal }),
    ),
    implement(readAuditFacets, async ({ query, signal }) =>
      nameSampleCallers(await recordsOf(audit, team, query.source).facets({ signal })),
    ),
    implement(listAuditViews, () => ({ data: audit.views.list() })),
    implement(createAuditView, ({ body }) => audit.views.create(body)),
    implement(updateAuditView, ({ parameters, body }) => audit.views.update(parameters.id, body)),
    implement(deleteAuditView, ({ parameters }) => audit.views.remove(parameters.id)),
  ];
}

/** Sends a pack as a download. It contains other people's text, so a browser must not open it as our page. */
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

function exportHandlers(exports: Exports, reportFailure: Log): Handler[] {
  return [
    implement(previewRedaction, async ({ body, signal }) => longJsonResponse(await exports.preview(body, { signal }))),
    implement(createAuditExport, ({ body }) => exports.create(body)),
    implement(listAuditExports, () => ({ data: exports.list() })),
    implement(followAuditExports, (input) =>
      followResponse(input, (signal) => followList(exports, signal), reportFailure),
    ),
    implement(stopAuditExport, ({ parameters }) => exports.stop(parameters.id)),
    implement(resumeAuditExport, ({ parameters }) => exports.resume(parameters.id)),
    implement(deleteAuditExport, ({ parameters }) => exports.remove(parameters.id)),
    implement(downloadAuditExport, async ({ parameters }) => sendPack(await exports.download(parameters.id))),
  ];
}

const defaultPairs = 50;

function replayHandlers(replays: Replays, reportFailure: Log): Handler[] {
  return [
    implement(createReplay, ({ body, signal }) => replays.create(body, { signal })),
    implement(listReplays, () => ({ data: replays.list() })),
    implement(followReplays, (input) => followResponse(input, (signal) => followList(replays, signal), reportFailure)),
    implement(readReplayResults, ({ parameters, query }) =>
      replays.results(parameters.id, { offset: query.offset ?? 0, limit: query.limit ?? defaultPairs }),
    ),
    implement(stopReplay, ({ parameters }) => replays.stop(parameters.id)),
    implement(resumeReplay, ({ parameters }) => replays.resume(parameters.id)),
    implement(retryReplay, ({ parameters }) => replays.retry(parameters.id)),
    implement(deleteReplay, ({ parameters }) => replays.remove(parameters.id)),
  ];
}

function retentionHandlers(retention: Retention): Handler[] {
  return [
    implement(readRetention, () => retention.state()),
    implement(previewRetention, ({ body, signal }) => retention.preview(body, { signal })),
  ];
}

function sampleHandlers(samples: Samples): Handler[] {
  return [
    implement(readAuditSamples, () => samples.state()),
    implement(loadAuditSamples, () => samples.load()),
    implement(removeAuditSamples, () => samples.remove()),
  ];
}

export interface AuditHandlerOptions {
  readonly audit: AuditStore;
  readonly team: Team;
  readonly services: Pick<AuditServices, 'exports' | 'samples' | 'retention' | 'replays'>;
  readonly log: Log;
}

/** Queries of the audit, evidence packs, samples, retention and replays. */
export function auditHandlers({ audit, team, services, log }: AuditHandlerOptions): Handler[] {
  return [
    ...queryHandlers(audit, team),
    ...exportHandlers(services.exports, log),
    ...sampleHandlers(services.samples),
    ...retentionHandlers(services.retention),
    ...replayHandlers(services.replays, log),
  ];
}
