import { z } from 'zod';
import { auditFilter, auditSort } from './audit.ts';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: audit';

/** Time spans that end now and move every day, by the clock of the window. */
export const auditSpans = ['today', 'last-24-hours', 'last-7-days', 'last-30-days', 'this-month', 'this-year'] as const;
export const auditSpan = z.enum(auditSpans);
export type AuditSpan = z.infer<typeof auditSpan>;

const auditViewInput = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(200),
  filter: auditFilter,
  sort: auditSort,
  /** Replaces the filter's dates; null for none. */
  span: auditSpan.nullish(),
});

/** A saved filter and sort. */
export const auditView = auditViewInput.extend({
  span: auditSpan.nullable(),
  id: uuid,
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type AuditView = z.infer<typeof auditView>;
export type AuditViewInput = z.infer<typeof auditViewInput>;

const viewParameters = z.object({ id: uuid });

export const listAuditViews = defineEndpoint({
  id: 'listAuditViews',
  method: 'get',
  path: '/window/audit/views',
  access: 'window',
  tag,
  summary: 'List saved views by name',
  response: z.object({ data: z.array(auditView) }),
});

export const createAuditView = defineEndpoint({
  id: 'createAuditView',
  method: 'post',
  path: '/window/audit/views',
  access: 'window',
  tag,
  summary: 'Save a view',
  body: auditViewInput,
  status: 201,
  response: auditView,
});

export const updateAuditView = defineEndpoint({
  id: 'updateAuditView',
  method: 'patch',
  path: '/window/audit/views/{id}',
  access: 'window',
  tag,
  summary: 'Rename a view or replace its filter or sort',
  parameters: viewParameters,
  body: auditViewInput.partial(),
  response: auditView,
  errors: [404],
});

export const deleteAuditView = defineEndpoint({
  id: 'deleteAuditView',
  method: 'delete',
  path: '/window/audit/views/{id}',
  access: 'window',
  tag,
  summary: 'Delete a view',
  parameters: viewParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
