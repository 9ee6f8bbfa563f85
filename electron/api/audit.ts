import {
  countAuditFacets,
  queryConversations,
  readAuditFacets,
  searchAudit,
  summarizeAudit,
  type AuditFilter,
  type AuditReportRequest,
} from '../../shared/contract/audit.ts';
import {
  createAuditView,
  deleteAuditView,
  listAuditViews,
  updateAuditView,
} from '../../shared/contract/audit-views.ts';
import { nameSampleCallers } from '../audit/samples/sample-callers.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import { LazyList } from '../storage/lazy-list.ts';
import { implement, type Handler } from './handler.ts';
import { JsonAnswer } from './json-answer.ts';
import { longJsonAnswer } from './long-json-answer.ts';

const defaultPageSize = 20;
const defaultRows = 50;

function filterOf(request: AuditReportRequest): AuditFilter {
  const { pageSize: _, continuationToken: __, includeFeedback: ___, ...filter } = request;
  return filter as AuditFilter;
}

export function auditHandlers(audit: AuditStore): Handler[] {
  return [
    implement(queryConversations, async ({ body, signal }) => {
      const query = {
        filter: filterOf(body),
        pageSize: body.pageSize ?? defaultPageSize,
        continuationToken: body.continuationToken ?? null,
        hasFeedback: body.includeFeedback ?? false,
      };
      const report = await audit.report(query, { signal });
      return report.conversations instanceof LazyList ? longJsonAnswer(report) : new JsonAnswer(report);
    }),
    implement(searchAudit, ({ body, signal }) =>
      audit.search({ ...body, sort: body.sort ?? 'newest', limit: body.limit ?? defaultRows }, { signal }),
    ),
    implement(summarizeAudit, ({ body, signal }) => audit.summarize(body, { signal })),
    implement(countAuditFacets, ({ body, signal }) => audit.countFacets(body, { signal })),
    implement(readAuditFacets, async ({ signal }) => nameSampleCallers(await audit.facets({ signal }))),
    implement(listAuditViews, () => ({ data: audit.views.list() })),
    implement(createAuditView, ({ body }) => audit.views.create(body)),
    implement(updateAuditView, ({ parameters, body }) => audit.views.update(parameters.id, body)),
    implement(deleteAuditView, ({ parameters }) => audit.views.remove(parameters.id)),
  ];
}
