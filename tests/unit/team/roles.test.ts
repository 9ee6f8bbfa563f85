import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { describeWithPostgres } from '../../support/postgres.ts';
import { createTeamDatabase, usePostgres } from './team-world.ts';

const id = '7f3c8e52-0000-4000-8000-000000000000';
const other = '7f3c8e52-0000-4000-8000-000000000001';

/** As the owner: a record in each table. */
const records = `
  INSERT INTO touchstone.hosts (id, name) VALUES ('${id}', 'server');
  INSERT INTO touchstone.api_keys (id, version, name, caller_id, hash, scopes, credit_limit, record_level, created_at)
    VALUES ('${id}', 0, 'Program', '${id}', sha256('x'), 'run', 10, 'all', 0);
  INSERT INTO touchstone.credit_leases VALUES ('${id}', '${id}', 5, 5, now());
  INSERT INTO touchstone.conversations VALUES ('${id}', 'Hidden', '${id}', '${other}', 0, 0, 0, 0);
  INSERT INTO touchstone.feedback_history (id, run_id, workspace_id, reviewer, score, score_text, created_at)
    VALUES ('${id}', '${id}', '${other}', 'Wren', 5, 'Good', 0);
  INSERT INTO touchstone.reviewers (id, name) VALUES ('${id}', 'Wren'), ('${other}', 'Heron');
  INSERT INTO touchstone.review_queues (id, queue, is_ready) VALUES ('${id}', '{"name": "All"}', true);
  INSERT INTO touchstone.review_items (id, queue_id, position, item, needed) VALUES ('${id}', '${id}', 0, '{}', 1), ('${other}', '${id}', 1, '{}', 1);
  SELECT touchstone.reserve_review_item('${id}', '${id}', '${id}', 15);
  SELECT touchstone.add_review('${id}', '${id}', '${id}', '${id}', 'review', '[]', NULL);
`;

/** What each user of docs/team.md must not be able to do by statements of their own, and what the server says. */
const attacks: Readonly<Record<'desktop_1' | 'host_1' | 'wren' | 'heron', readonly (readonly [string, RegExp])[]>> = {
  desktop_1: [
    ["UPDATE touchstone.reviews SET answers = '[1]'", /permission denied/],
    ['DELETE FROM touchstone.reviews', /permission denied/],
    [`INSERT INTO touchstone.reviews SELECT * FROM touchstone.reviews`, /permission denied/],
    ["UPDATE touchstone.review_items SET gold = '[]'", /permission denied/],
    ["UPDATE touchstone.review_comments SET body = 'x'", /permission denied/],
    ['UPDATE touchstone.review_reservations SET reviewer_id = item_id', /permission denied/],
    [
      `INSERT INTO touchstone.review_items (id, queue_id, position, item, needed, done, gold, gold_by)
       VALUES (gen_random_uuid(), '${id}', 9, '{}', 1, 1, '[]', 'Wren')`,
      /no reviews and no decision/,
    ],
    ['UPDATE touchstone.review_queues SET last_change = 1000000', /only continue/],
    ['UPDATE touchstone.review_queues SET last_change = 0', /only continue/],
    [`SELECT touchstone.reserve_review_item('${id}', '${other}', '${other}', 2147483647)`, /a day at most/],
    [`SELECT touchstone.reserve_review_item('${id}', '${other}', '${other}', NULL)`, /null value/],
    [`SELECT touchstone.add_review('${id}', '${other}', '${other}', gen_random_uuid(), 'gold', '[]', NULL)`, /none/],
    ["UPDATE touchstone.feedback_history SET score = -5, reviewer = 'Heron'", /Feedback is only added/],
    ['UPDATE touchstone.state SET last_sequence = 9223372036854775807', /only continues/],
    ['UPDATE touchstone.state SET last_sequence = -1', /only continues/],
    ["UPDATE touchstone.state SET token_secret = 'x'", /never changes/],
    ['DELETE FROM touchstone.state', /permission denied/],
    ["SELECT touchstone.create_partition('0044-01-01 BC')", /other years/],
    ["SELECT touchstone.create_partition('infinity')", /./],
    ['SELECT hash FROM touchstone.api_keys', /permission denied/],
    ["INSERT INTO touchstone.api_keys (id, name) VALUES (gen_random_uuid(), 'Forged')", /permission denied/],
    ['UPDATE touchstone.credit_leases SET spent = 0', /permission denied/],
    [`INSERT INTO touchstone.auditors VALUES ('desktop_1', '${other}')`, /permission denied/],
    ['CREATE TABLE touchstone.mine ()', /permission denied/],
    ['SET SESSION AUTHORIZATION owner', /permission denied/],
    ['SET ROLE touchstone_host', /permission denied/],
  ],
  host_1: [
    ["UPDATE touchstone.api_keys SET hash = sha256('mine')", /never change/],
    [`UPDATE touchstone.api_keys SET caller_id = '${other}'`, /never change/],
    ['DELETE FROM touchstone.api_keys', /permission denied/],
    ['UPDATE touchstone.credit_leases SET spent = 0', /stay used/],
    ['DELETE FROM touchstone.credit_leases', /permission denied/],
    ['SET ROLE owner', /permission denied/],
  ],
  wren: [
    ['SELECT token_secret FROM touchstone.state', /permission denied/],
    ['SELECT * FROM touchstone.runs_2026_01', /permission denied/],
    ['SELECT * FROM touchstone.reviews', /permission denied/],
    ['ALTER TABLE touchstone.runs DISABLE ROW LEVEL SECURITY', /must be owner/],
    [`INSERT INTO touchstone.auditors VALUES ('wren', '${other}')`, /permission denied/],
    ["SELECT touchstone.create_partition('2026-01-01')", /permission denied/],
    ['SET ROLE touchstone_auditor', /permission denied/],
  ],
  heron: [
    ['SELECT * FROM touchstone.api_keys', /permission denied/],
    ["UPDATE touchstone.runs SET content_characters = 0, terms = '{}'", /./],
    ['DELETE FROM touchstone.conversations', /permission denied/],
    ['SELECT pin_hash FROM touchstone.reviewers', /permission denied/],
  ],
};

describeWithPostgres('users of the team database with statements of their own', () => {
  const server = usePostgres();
  let team = '';

  beforeAll(async () => {
    team = await createTeamDatabase(server());
    const statements = readFileSync('docs/team.md', 'utf8').matchAll(/```sql\n(.*?)```/gs);
    for (const [, text] of statements) await server().query(team, text!);
    await server().query(team, 'CREATE ROLE heron LOGIN IN ROLE touchstone_auditor');
    await server().query(team, records);
  });

  async function queryAs(user: string, text: string): Promise<pg.QueryResult> {
    const client = new pg.Client(team.replace('owner@', `${user}@`));
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  for (const [user, statements] of Object.entries(attacks)) {
    test(`${user} is stopped`, async () => {
      for (const [statement, reason] of statements) {
        const answer = await queryAs(user, statement).then(
          ({ rows }) => `${statement}: none ${JSON.stringify(rows)}`,
          ({ message }: Error) => message,
        );
        expect(answer).toMatch(reason);
      }
    });
  }

  test('auditors of some workspaces find nothing of others, however they ask', async () => {
    for (const table of ['conversations', 'feedback_history', 'callers', 'runs', 'run_texts'])
      expect((await queryAs('wren', `SELECT * FROM touchstone.${table}`)).rows).toEqual([]);
    // A cheap function isn't called with rows that the policy hides.
    const client = new pg.Client(team.replace('owner@', 'wren@'));
    await client.connect();
    const notices: string[] = [];
    client.on('notice', ({ message }) => void notices.push(message ?? ''));
    await client.query(`CREATE FUNCTION pg_temp.tell(value text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
      AS $$ BEGIN RAISE NOTICE '%', value; RETURN true; END $$`);
    await client.query('SELECT 1 FROM touchstone.conversations WHERE pg_temp.tell(name)');
    await client.end();
    expect(notices).toEqual([]);
  });

  // Each runs a function of the owner that names this type.
  test.each([
    ['text', "SELECT touchstone.create_partition('2050-01-01')"],
    ['timestamptz', `SELECT touchstone.reserve_review_item('${id}', '${other}', '${other}', 15)`],
    ['jsonb', `SELECT touchstone.remove_review_items('${id}', '{${other}}')`],
  ])('a temporary type %s gets no rights of the owner', async (type, call) => {
    const outcome = queryAs(
      'desktop_1',
      `CREATE FUNCTION pg_temp.rob() RETURNS boolean LANGUAGE plpgsql
         AS $$ BEGIN INSERT INTO touchstone.auditors VALUES ('desktop_1', '${randomUUID()}'); RETURN true; END $$;
       CREATE DOMAIN pg_temp.${type} AS pg_catalog.${type} CHECK (pg_temp.rob());
       ${call}`,
    );
    await outcome.catch(() => undefined);
    expect(await server().query(team, "SELECT 1 FROM touchstone.auditors WHERE role = 'desktop_1'")).toEqual([]);
  });

  test.each(['wren', 'heron', 'desktop_1'])(
    '%s gets no rights of the owner with a trigger on a table of their own',
    async (user) => {
      const outcome = queryAs(
        user,
        `CREATE FUNCTION pg_temp.rob() RETURNS boolean LANGUAGE plpgsql
         AS $$ BEGIN
           IF current_user <> session_user THEN INSERT INTO touchstone.auditors VALUES ('${user}', '${other}'); END IF;
           RETURN true;
         END $$;
       CREATE DOMAIN pg_temp.number AS bigint CHECK (pg_temp.rob());
       CREATE TEMPORARY TABLE mine (id uuid, hash bytea, caller_id uuid, version pg_temp.number, revoked_at bigint);
       CREATE TRIGGER mine BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION touchstone.note_api_key();
       INSERT INTO mine (id) VALUES (gen_random_uuid())`,
      );
      expect(await outcome.catch(({ message }: Error) => message)).toBe(
        'permission denied for function touchstone.note_api_key',
      );
      const robbed = `SELECT 1 FROM touchstone.auditors WHERE role = '${user}' AND workspace_id = '${other}'`;
      expect(await server().query(team, robbed)).toEqual([]);
    },
  );

  test('everybody runs only the functions that they are given', async () => {
    const functions = `SELECT proname FROM pg_proc WHERE pronamespace = 'touchstone'::regnamespace
      AND has_function_privilege('touchstone_auditor', oid, 'EXECUTE')`;
    expect(await server().query(team, functions)).toEqual([]);
  });

  test('a review says which user of the database wrote it', async () => {
    const reviewId = randomUUID();
    await server().query(team, `SELECT touchstone.reserve_review_item('${id}', '${other}', '${other}', 15)`);
    await server().query(team, 'UPDATE touchstone.review_items SET is_removed = false');
    await queryAs('desktop_1', `SELECT touchstone.reserve_review_item('${id}', '${other}', '${other}', 15)`);
    await queryAs(
      'desktop_1',
      `SELECT touchstone.add_review('${id}', '${other}', '${other}', '${reviewId}', 'review', '[]', NULL)`,
    );
    const written = await server().query(team, `SELECT written_by FROM touchstone.reviews WHERE id = '${reviewId}'`);
    expect(written).toEqual([{ written_by: 'desktop_1' }]);
  });
});
