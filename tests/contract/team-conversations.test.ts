// @module-tag slow
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ApiKey } from '../../shared/contract/api-keys.ts';
import type { TeamState } from '../../shared/contract/team.ts';
import { patience } from '../support/patience.ts';
import { describeWithPostgres } from '../support/postgres.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { type Answer, type SharingHost, startSharingHost } from '../support/sharing-hosts.ts';
import { recordRun } from '../support/audit-runs.ts';
import { connectTeam, createCopier, createTeamDatabase, usePostgres } from '../unit/team/team-world.ts';
import { openTestStorage } from '../unit/storage/test-storage.ts';

describeWithPostgres('a conversation that another host recorded', () => {
  const server = usePostgres();

  async function startHosts(team: string): Promise<SharingHost[]> {
    const provider = await startScriptedProvider((call) => call.chatAnswer({ content: 'Hello' }));
    onTestFinished(() => provider.close());
    const hosts: SharingHost[] = [];
    for (let count = 0; count < 2; count += 1) {
      const host = await startSharingHost({ team, providerAddress: provider.baseAddress });
      onTestFinished(host.close);
      hosts.push(host);
    }
    return hosts;
  }

  const issue = async ({ call }: SharingHost, name: string): Promise<string> =>
    (await call<ApiKey & { key: string }>('POST', '/window/api-keys', { name })).body.key;

  type Failure = Answer<{ error?: { code: string; message: string } }>;

  const complete = ({ call }: SharingHost, key: string, metadata: object): Promise<Failure> =>
    call(
      'POST',
      '/api/completions/sync',
      { promptText: 'Say hello', aiSystem: 'OpenAiCompatible', model: 'scripted/model', metadata },
      key,
    );

  test('is continued by its caller only, also while the database is away', async () => {
    const team = await createTeamDatabase(server());
    const [one, two] = (await startHosts(team)) as [SharingHost, SharingHost];
    const [own, other] = [await issue(one, 'Heron'), await issue(one, 'Osprey')];
    const conversationId = randomUUID();
    const workspaceId = randomUUID();
    expect((await complete(one, own, { conversationId, workspaceId })).status).toBe(200);
    const stored = `SELECT 1 FROM touchstone.runs WHERE conversation_id = '${conversationId}'`;
    await vi.waitFor(async () => expect(await server().query(team, stored)).toHaveLength(1), patience);
    await vi.waitFor(
      async () => expect((await two.call('GET', '/credits', undefined, other)).status).toBe(200),
      patience,
    );

    const there = await complete(two, other, { conversationId: conversationId.toUpperCase() });
    const here = await complete(one, other, { conversationId });
    expect([there.status, there.body.error?.message]).toEqual([403, here.body.error?.message]);
    expect((await complete(two, own, { conversationId, workspaceId: randomUUID() })).status).toBe(409);
    expect((await complete(two, own, { conversationId })).status).toBe(200);
    expect((await complete(two, other, { conversationId: randomUUID() })).status).toBe(200);

    // It doesn't answer, and then it is away.
    const { database } = await connectTeam(team);
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const lock = database.transaction().execute(async (transaction) => {
      await sql`LOCK touchstone.conversations IN ACCESS EXCLUSIVE MODE`.execute(transaction);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    expect((await complete(two, own, { conversationId: randomUUID() })).status).toBe(200);
    released.resolve();
    await lock;
    await server().kill();
    await vi.waitFor(async () => {
      expect((await two.call<TeamState>('GET', '/window/team')).body.status).toBe('offline');
    }, patience);
    expect((await complete(two, own, { conversationId: randomUUID() })).status).toBe(200);
    await server().run();
  });

  test('has the name and the workspace that its caller gave it', async () => {
    const team = await createTeamDatabase(server());
    const connection = await connectTeam(team);
    const conversationId = randomUUID();
    const [one, two] = [openTestStorage(), openTestStorage()];
    const callerId = randomUUID();
    await recordRun({ storage: one }, { conversationId, callerId, renderedPrompt: 'The heron waits' });
    await createCopier(one, connection).copyAll();
    // Recorded while the host couldn't know that the conversation is another caller's.
    const renderedPrompt = 'Anonymised';
    await recordRun({ storage: two }, { conversationId, renderedPrompt, workspaceId: randomUUID() });
    await createCopier(two, connection).copyAll();
    const query = 'SELECT name, caller_id, workspace_id FROM touchstone.conversations';
    expect(await server().query(team, query)).toEqual([
      { name: 'The heron waits', caller_id: callerId, workspace_id: null },
    ]);
  });
});
