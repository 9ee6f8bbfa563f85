import { previewRetention, readRetention } from '../../shared/contract/audit-retention.ts';
import type { Retention } from '../audit/retention/create-retention.ts';
import { implement, type Handler } from './handler.ts';

export function auditRetentionHandlers(retention: Retention): Handler[] {
  return [
    implement(readRetention, () => retention.state()),
    implement(previewRetention, ({ body, signal }) => retention.preview(body, { signal })),
  ];
}
