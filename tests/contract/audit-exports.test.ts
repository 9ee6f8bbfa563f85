// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../renderer/host/client.ts';
import {
  createAuditExport,
  deleteAuditExport,
  followAuditExports,
  listAuditExports,
  previewRedaction,
  resumeAuditExport,
  stopAuditExport,
  type AuditExport,
  type AuditExportInput,
} from '../../shared/contract/audit-exports.ts';
import { loadAuditSamples } from '../../shared/contract/audit-data.ts';
import { endpoints } from '../../shared/contract/index.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let world: TestHost;
let client: Client;

beforeAll(async () => {
  world = await startTestHost();
  client = windowClient(world.host);
  await client.call(loadAuditSamples);
});
afterAll(() => world.close());

function input(change: Partial<AuditExportInput> = {}): AuditExportInput {
  return {
    selection: { filter: { text: 'refund' } },
    columns: ['conversationId', 'content'],
    rules: [],
    formats: ['jsonl'],
    form: 'folder',
    ...change,
  };
}

/** What the window's own requests are answered with, whole. */
function windowFetch(path: string): Promise<Response> {
  return world.host.api.fetch(new Request(`http://window.test${path}`), { access: 'window' });
}

async function completedPack(change: Partial<AuditExportInput> = {}): Promise<AuditExport> {
  const { id } = await client.call(createAuditExport, { body: input(change) });
  const { parts } = await client.stream(followAuditExports);
  for await (const { data } of parts) {
    const pack = data.find((one) => one.id === id);
    if (pack && pack.state !== 'running') return pack;
  }
  throw new Error('The pack never ended.');
}

describe('evidence packs, samples, retention and replays', () => {
  const own = endpoints.filter(({ path }) => /^\/window\/audit\/(?:exports|samples|retention|replays)/.test(path));

  test('have no address that an API key can reach', async () => {
    expect(own.length).toBeGreaterThanOrEqual(21);
    for (const way of ways) {
      for (const { method, path } of own) {
        const answer = await world.send(way, {
          method: method.toUpperCase(),
          path: path.replaceAll(/\{\w+\}/g, '11111111-1111-4111-8111-111111111111'),
          headers: { authorization: `Bearer ${world.key}` },
        });
        expect([way, method, path, answer.status]).toEqual([way, method, path, 404]);
      }
    }
  });

  test('answer 404 in the error format for an unknown id', async () => {
    const id = '11111111-1111-4111-8111-111111111111';
    for (const { path, method } of own.filter((endpoint) => endpoint.path.includes('{id}'))) {
      const address = path.replace('{id}', id).replace('{fileName}', 'manifest.json');
      const request = new Request(`http://window.test${address}`, { method: method.toUpperCase() });
      const answer = await world.host.api.fetch(request, { access: 'window' });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.json()).toMatchObject({ error: { code: 'not_found', details: [] } });
    }
  });
});

describe('rejects a pack', () => {
  test.each([
    ['without a column', { columns: [] }, 'columns'],
    ['with an unknown column', { columns: ['password'] }, 'columns[0]'],
    ['without a format', { formats: [] }, 'formats'],
    ['in an unknown form', { form: 'tar' }, 'form'],
    ['with a pattern that is none', { rules: [{ kind: 'pattern', name: 'x', pattern: '(' }] }, 'rules[0].pattern'],
    ['with a pattern of nothing', { rules: [{ kind: 'pattern', name: 'x', pattern: 'a*' }] }, 'rules[0].pattern'],
    ['with an unknown rule', { rules: [{ kind: 'postcode' }] }, 'rules[0].kind'],
    ['with an unknown filter', { selection: { filter: { colour: 'red' } } }, 'selection.filter.colour'],
    [
      'with reversed dates',
      { selection: { filter: { startDate: '2026-02-01T00:00:00Z', endDate: '2026-01-01T00:00:00Z' } } },
      'selection.filter.startDate',
    ],
    ['without conversations', { selection: { conversationIds: [] } }, 'selection.conversationIds'],
    [
      'with an unknown conversation',
      { selection: { conversationIds: ['11111111-1111-4111-8111-111111111111'] } },
      'selection.conversationIds[0]',
    ],
    ['with an unknown field', { colour: 'red' }, 'colour'],
  ])('%s, and names the field', async (_, change, field) => {
    const body = { ...input(), ...change } as AuditExportInput;
    await expect(client.call(createAuditExport, { body })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [expect.objectContaining({ field })],
    });
  });
});

test('a preview rejects the same patterns', async () => {
  const rules = [{ kind: 'pattern', name: 'x', pattern: '(?=x)' }] as const;
  const body = { selection: { filter: {} }, columns: ['content'] as ['content'], rules: [...rules] };
  await expect(client.call(previewRedaction, { body })).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a pack goes from running to completed, and is listed newest first', async () => {
  const first = await completedPack();
  const second = await completedPack({ name: 'Second' });
  expect([first.state, second.state]).toEqual(['completed', 'completed']);
  const { data } = await client.call(listAuditExports);
  expect(data.slice(0, 2)).toEqual([second, first]);
  // Both are whole: there is nothing to stop and nothing to go on with.
  expect(await client.call(stopAuditExport, { parameters: { id: first.id } })).toEqual(first);
  expect(await client.call(resumeAuditExport, { parameters: { id: first.id } })).toEqual(first);
});

test.each(['folder', 'zip'] as const)(
  'a pack as %s is sent as one zip, to be saved and never to be shown',
  async (form) => {
    const pack = await completedPack({ form });
    const answer = await windowFetch(`/window/audit/exports/${pack.id}/download`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': expect.stringMatching(/^attachment; filename="evidence-[\w-]+\.zip"$/),
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(0, 2).toString()).toBe('PK');
    expect(bytes.includes('manifest.json')).toBe(true);
  },
);

test("an incomplete pack can't be downloaded", async () => {
  const { id } = await client.call(createAuditExport, { body: input({ selection: { filter: {} } }) });
  const answer = await windowFetch(`/window/audit/exports/${id}/download`);
  const { state } = await client.call(stopAuditExport, { parameters: { id } });
  expect({ state, status: answer.status }).toEqual({ state: 'stopped', status: 409 });
  await client.call(deleteAuditExport, { parameters: { id } });
  expect((await windowFetch(`/window/audit/exports/${id}/download`)).status).toBe(404);
});
