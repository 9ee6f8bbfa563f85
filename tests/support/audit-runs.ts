import type { TestAnswer, TestHost, Way } from './test-host.ts';
import type { NewRun, RunOutcome } from '../../electron/storage/run-rows.ts';
import { sampleOutcome, sampleRun } from '../unit/storage/sample-run.ts';

/** Records a finished run as a completion would, without a provider. */
export async function recordRun(
  { storage }: Pick<TestHost['host'], 'storage'>,
  run: Partial<NewRun> = {},
  outcome: Partial<RunOutcome> = {},
): Promise<NewRun> {
  const recorded = sampleRun({ metadata: null, appHeaders: {}, warnings: [], ...run });
  storage.runs.begin(recorded);
  await storage.runs.finish(recorded.runId, sampleOutcome(outcome));
  return recorded;
}

/** Asks the audit with the test's key; a text is sent as it is. */
export function askAudit(
  host: TestHost,
  way: Way,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<TestAnswer> {
  return host.send(way, {
    method: 'POST',
    path: '/audit/conversations',
    headers: { 'content-type': 'application/json', 'x-hl-api-key': host.key, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
