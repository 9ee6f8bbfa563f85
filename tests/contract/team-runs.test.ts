import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createAuditExport, listAuditExports, previewRedaction } from '../../shared/contract/audit-exports.ts';
import { createReplay, listReplays, readReplayResults } from '../../shared/contract/audit-replay.ts';
import { createRunDataset } from '../../shared/contract/dataset-import.ts';
import { readDatasetRows } from '../../shared/contract/datasets.ts';
import { giveFeedback } from '../../shared/contract/conversations.ts';
import { readRun } from '../../shared/contract/runs.ts';
import { readTeam } from '../../shared/contract/team.ts';
import type { Client } from '../../renderer/host/client.ts';
import { recordRun } from '../support/audit-runs.ts';
import { patience } from '../support/patience.ts';
import { describeWithPostgres } from '../support/postgres.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';
import { createTeamDatabase, usePostgres } from '../unit/team/team-world.ts';

const worlds: TestHost[] = [];
afterAll(() => Promise.all(worlds.map((world) => world.close())));

async function startHost(team: string | null): Promise<{ world: TestHost; client: Client }> {
  const world = await startTestHost({ team });
  worlds.push(world);
  return { world, client: windowClient(world.host) };
}

const copied = (client: Client) =>
  vi.waitFor(async () => {
    const state = await client.call(readTeam);
    expect(state).toMatchObject({ status: 'up-to-date', waiting: 0 });
  }, patience);

/** One host with two conversations of three runs, and an auditor's host without any. */
async function startTeam(team: string) {
  const [{ world, client: recorder }, auditor] = [await startHost(team), await startHost(team)];
  const conversationId = '10000000-0000-4000-8000-000000000001';
  const runs = [
    await recordRun(world.host, {
      conversationId,
      renderedPrompt: 'the heron waits',
      replacements: { bird: 'heron' },
      aiSystem: 'Groq',
      model: 'llama3-70b-8192',
    }),
    await recordRun(world.host, {
      conversationId,
      renderedPrompt: 'the heron, mail heron@example.org',
      aiSystem: 'Groq',
      model: 'llama3-70b-8192',
    }),
    await recordRun(world.host, { renderedPrompt: 'the osprey dives' }),
  ];
  const feedback = { score: 7, scoreText: 'patient', scoreTags: 'bird' };
  await recorder.call(giveFeedback, { parameters: { conversationId, runId: runs[0]!.runId }, body: feedback });
  await copied(recorder);
  return { auditor, runs, conversationId };
}

describeWithPostgres('runs of other hosts', () => {
  const server = usePostgres();
  let started: Awaited<ReturnType<typeof startTeam>>;
  beforeAll(async () => {
    started = await startTeam(await createTeamDatabase(server()));
  }, patience.timeout);

  test('are exported as evidence, with their texts and the history of their feedback', async () => {
    const { auditor, runs, conversationId } = started;
    const { client, world } = auditor;
    const columns = [
      'runId',
      'conversationName',
      'matched',
      'status',
      'renderedPrompt',
      'content',
      'feedbackHistory',
    ] as const;
    const rules = [{ kind: 'email' }] as const;
    const filter = { text: 'waits' };
    const preview = await client.call(previewRedaction, {
      body: { selection: { filter: {}, source: 'team' }, columns: [...columns], rules: [...rules] },
    });
    expect(preview).toMatchObject({ conversations: 2, runs: 3, examinedRuns: 3 });
    expect(preview.rules[0]).toMatchObject({ count: 1, samples: [{ found: 'heron@example.org', conversationId }] });

    const pack = await client.call(createAuditExport, {
      body: {
        selection: { filter, source: 'team' },
        columns: [...columns],
        rules: [...rules],
        formats: ['jsonl', 'html'],
        form: 'folder',
      },
    });
    const done = await vi.waitFor(async () => {
      const { data } = await client.call(listAuditExports);
      expect(data[0]!.state).toBe('completed');
      return data[0]!;
    }, patience);
    expect(done).toMatchObject({ conversationsTotal: 1, runsDone: 2, selection: { source: 'team' } });
    const folder = join(world.dataDirectory, 'exports', pack.id, 'pack');
    const lines = readFileSync(join(folder, 'evidence.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      {
        runId: runs[0]!.runId,
        matched: true,
        status: 'Completed',
        renderedPrompt: 'the heron waits',
        feedbackHistory: [{ score: 7, note: 'patient', scoreTags: 'bird' }],
      },
      { runId: runs[1]!.runId, matched: false, renderedPrompt: 'the heron, mail [e-mail]' },
    ]);
    expect(readFileSync(join(folder, 'evidence.html'), 'utf8')).toContain('Runs of the team; Text: waits');
  });

  test('become rows of a dataset, and are read by ID', async () => {
    const { auditor, runs } = started;
    const { client } = auditor;
    expect(await client.call(readRun, { parameters: { id: runs[0]!.runId } })).toMatchObject({
      input: { renderedPrompt: 'the heron waits' },
    });
    for (const selection of [
      { filter: { text: 'heron' }, source: 'team' as const },
      { runIds: runs.slice(0, 2).map(({ runId }) => runId) },
    ]) {
      const dataset = await client.call(createRunDataset, { body: { name: 'Birds', selection } });
      const { data } = await client.call(readDatasetRows, { parameters: { id: dataset.id }, query: {} });
      expect(data.map(({ values }) => [values['run ID'], values['feedback score'] ?? null])).toEqual([
        [runs[0]!.runId, 7],
        [runs[1]!.runId, null],
      ]);
    }
  });

  test('are replayed and compared with the answers of this host', async () => {
    const { auditor, runs } = started;
    const { client, world } = auditor;
    world.provider.answerWith((call) => call.chatStream(['Salut']));
    const replay = await client.call(createReplay, {
      body: { selection: { filter: { text: 'heron' }, source: 'team' }, target: { promptText: 'Greet {{bird}}' } },
    });
    await vi.waitFor(async () => {
      expect((await client.call(listReplays)).data[0]).toMatchObject({ state: 'completed', total: 2, completed: 2 });
    }, patience);
    const { data, sameAnswers } = await client.call(readReplayResults, { parameters: { id: replay.id }, query: {} });
    expect(data.map(({ original }) => original?.runId)).toEqual([runs[1]!.runId, runs[0]!.runId]);
    expect(data.map(({ replayed }) => replayed?.content)).toEqual(['Salut', 'Salut']);
    expect(sameAnswers).toBe(0);
  });

  test('need a connected team database', async () => {
    const { client } = await startHost(null);
    const selection = { filter: {}, source: 'team' as const };
    const message = 'No team database is connected. Connect one in Settings.';
    const requests = [
      () => client.call(createReplay, { body: { selection, target: {} } }),
      () => client.call(createRunDataset, { body: { name: 'Birds', selection } }),
      () => client.call(previewRedaction, { body: { selection, columns: ['runId'], rules: [] } }),
      () =>
        client.call(createAuditExport, {
          body: { selection, columns: ['runId'], rules: [], formats: ['csv'], form: 'folder' },
        }),
    ];
    for (const send of requests) await expect(send()).rejects.toMatchObject({ code: 'conflict', message });
  });
});
