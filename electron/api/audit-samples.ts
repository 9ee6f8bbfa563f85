import { loadAuditSamples, readAuditSamples, removeAuditSamples } from '../../shared/contract/audit-samples.ts';
import type { Samples } from '../audit/samples/create-samples.ts';
import { implement, type Handler } from './handler.ts';

export function auditSampleHandlers(samples: Samples): Handler[] {
  return [
    implement(readAuditSamples, () => samples.state()),
    implement(loadAuditSamples, () => samples.load()),
    implement(removeAuditSamples, () => samples.remove()),
  ];
}
