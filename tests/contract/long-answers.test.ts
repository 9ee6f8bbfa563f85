import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditReport } from '../../shared/contract/audit.ts';
import { conversationDetail } from '../../shared/contract/conversations.ts';
import { askAudit, recordRun } from '../support/audit-runs.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

const conversationId = randomUUID();
const runs = 10;

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  for (let position = 0; position < runs; position += 1) {
    const content = `${position} ${'ä'.repeat(500_000)}`;
    const servedBy = position % 2 === 0 ? 'OpenAi/gpt-4o' : 'OpenAi/gpt-4o-mini';
    const model = servedBy.slice('OpenAi/'.length);
    const run = await recordRun(
      host.host,
      { conversationId, servedBy, model, createdAt: Date.UTC(2026, 0, 1) + position },
      { content },
    );
    if (position === 3)
      host.host.storage.audit.giveFeedback(
        { conversationId, runId: run.runId },
        { score: 5 },
        { reviewerId: 'reviewer' },
      );
  }
  await recordRun(host.host, { createdAt: Date.UTC(2026, 0, 2) });
});
afterAll(() => host.close());

test.each(ways)('a conversation of many megabytes is sent like a short one, in chunks (%s)', async (way) => {
  const answer = await host.send(way, {
    path: `/conversations/${conversationId}`,
    headers: { authorization: `Bearer ${host.key}` },
  });
  const conversation = conversationDetail.parse(JSON.parse(answer.text));
  expect([answer.status, answer.headers['content-type'], answer.headers['content-length']]).toEqual([
    200,
    'application/json',
    undefined,
  ]);
  expect(answer.text.slice(0, 60)).toBe(JSON.stringify(conversation).slice(0, 60));
  expect(conversation.runs.map(({ output, feedback }) => [output.content.split(' ')[0], feedback?.score])).toEqual(
    Array.from({ length: runs }, (_, position) => [String(position), position === 3 ? 5 : undefined]),
  );
});

test.each(ways)('a page of the audit with such a conversation is complete, with the matches (%s)', async (way) => {
  const pages = [];
  let continuationToken: string | null = null;
  do {
    const filter = { callerId: '11111111-1111-4111-8111-111111111111', includeFeedback: true, continuationToken };
    const { status, text } = await askAudit(host, way, { ...filter, pageSize: 1 });
    expect([status, text.slice(0, 40)]).toEqual([200, expect.stringContaining('{"conversations":[{"id":"')]);
    const page = auditReport.parse(JSON.parse(text));
    pages.push(page.conversations.map((conversation) => conversation.runs.length));
    ({ continuationToken } = page);
  } while (continuationToken !== null);
  expect(pages).toEqual([[1], [runs]]);
});
