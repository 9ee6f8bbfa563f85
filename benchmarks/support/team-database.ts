import type { AuditFilter } from '../../shared/contract/audit.ts';
import type { TestPostgres } from '../../tests/support/postgres.ts';
import type { GeneratedRun } from './audit-generator.ts';
import type { Known } from './audit-queries.ts';
import { createRandom, type SeededRandom, wordOfRank } from './text-writer.ts';

const characters = [...'日本語の文書を検索する契約報告請求手紙東京大阪会社顧客回答質問要約翻訳期限金額条件確認送付'];

function unspacedSentence(random: SeededRandom): string {
  return Array.from({ length: 30 }, () => random.pick(characters)).join('');
}

/** Runs of which every twentieth has an answer in a script without spaces. */
export function* withUnspacedTexts(runs: Iterable<GeneratedRun>): Generator<GeneratedRun> {
  const random = createRandom(20);
  let count = 0;
  for (const generated of runs) {
    count += 1;
    const { outcome } = generated;
    if (count % 20 !== 0 || outcome.content === '') yield generated;
    else yield { ...generated, outcome: { ...outcome, content: `${outcome.content} ${unspacedSentence(random)}` } };
  }
}

const pickRank = (random: SeededRandom, first: number, many: number) =>
  wordOfRank(first + Math.floor(random.next() * many));

/** Searches of texts, from rare to frequent. */
export const textFilters: Readonly<Record<string, (random: SeededRandom, known: Known) => AuditFilter>> = {
  'a rare word': (random) => ({ text: pickRank(random, 30_000, 20_000) }),
  'a medium word': (random) => ({ text: pickRank(random, 400, 600) }),
  'a word of every third run': (random) => ({ text: pickRank(random, 40, 12) }),
  'a phrase': (random) => ({ text: `"${pickRank(random, 0, 40)} ${pickRank(random, 0, 200)}"` }),
  'a prefix': (random) => ({ text: `${pickRank(random, 5000, 5000).slice(0, 5)}*` }),
  'two letters without spaces': (random) => ({ text: random.pick(characters) + random.pick(characters) }),
  'three letters without spaces': (random) => ({
    text: Array.from({ length: 3 }, () => random.pick(characters)).join(''),
  }),
  'a word and a model': (random) => ({ text: pickRank(random, 400, 600), models: ['gpt-4o'] }),
};

const runColumns = `host_id, position, workspace_id, created_at, first_token_ms, total_ms, prompt_tokens, completion_tokens,
  total_tokens, cost, score, score_text, score_tags, score_search, feedback_at, terms, status, served_model`;

/** The same runs again as those of another host, with other IDs. `runs` is the number of the first host's. */
function copyOfHost(copy: number, runs: number): string {
  const id = (name: string) => `md5(${name}::text || '${copy}')::uuid`;
  const shift = copy * runs;
  const copiedRuns = runColumns.replace('host_id', id('host_id'));
  return `
    INSERT INTO touchstone.hosts (id, name, copied_run) SELECT ${id('id')}, 'host ${copy}', copied_run FROM touchstone.hosts
      WHERE name NOT LIKE 'host %';
    INSERT INTO touchstone.conversations (id, name, caller_id, workspace_id, created_at, turns_before, earliest_at, latest_at)
      SELECT ${id('id')}, name, caller_id, workspace_id, created_at, turns_before, earliest_at, latest_at FROM first_conversations;
    INSERT INTO touchstone.runs (sequence, id, conversation_id, previous_sequence, next_sequence, ${runColumns})
      SELECT sequence + ${shift}, ${id('id')}, ${id('conversation_id')}, previous_sequence + ${shift}, next_sequence + ${shift},
        ${copiedRuns} FROM touchstone.runs WHERE sequence <= ${runs};
    INSERT INTO touchstone.run_texts (sequence, created_at, conversation_id, workspace_id, "row", contents, words)
      SELECT sequence + ${shift}, created_at, ${id('conversation_id')}, workspace_id, "row", contents, words
      FROM touchstone.run_texts WHERE sequence <= ${runs};`;
}

interface Index {
  readonly name: string;
  readonly definition: string;
}

/**
 * Fills the team database with the runs of further hosts. Indexes are created at the end, as after loading an archive. `log` gets each step.
 */
export async function addHosts(
  server: TestPostgres,
  address: string,
  { hosts, runs, log }: { readonly hosts: number; readonly runs: number; readonly log: (step: string) => void },
): Promise<void> {
  const indexes = await server.query<Index>(
    address,
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     JOIN pg_class ON pg_class.oid = indexrelid WHERE relkind = 'I' AND NOT indisprimary`,
  );
  for (const { name } of indexes.filter(({ definition }) => !definition.includes('(sequence)')))
    await server.query(address, `DROP INDEX ${name}`);
  await server.query(address, 'CREATE TABLE first_conversations AS SELECT * FROM touchstone.conversations');
  for (let copy = 1; copy < hosts; copy += 1) {
    await server.query(address, copyOfHost(copy, runs));
    log(`${runs * (copy + 1)} runs`);
  }
  await server.query(
    address,
    `ALTER TABLE touchstone.state DISABLE TRIGGER USER; UPDATE touchstone.state SET last_sequence = last_sequence * ${hosts};
     ALTER TABLE touchstone.state ENABLE TRIGGER USER; UPDATE touchstone.terms SET runs = runs * ${hosts};
     UPDATE touchstone.day_terms SET runs = runs * ${hosts}; UPDATE touchstone.day_durations SET runs = runs * ${hosts};
     UPDATE touchstone.day_models SET runs = runs * ${hosts}, failed = failed * ${hosts}, prompt_tokens = prompt_tokens * ${hosts},
       completion_tokens = completion_tokens * ${hosts}, total_tokens = total_tokens * ${hosts}, cost = cost * ${hosts},
       without_cost = without_cost * ${hosts}, feedback = feedback * ${hosts}, scored = scored * ${hosts}, score = score * ${hosts};
     DROP TABLE first_conversations`,
  );
  for (const { definition } of indexes.filter((index) => !index.definition.includes('(sequence)'))) {
    await server.query(address, definition.replace(' ON ONLY ', ' ON '));
    log(definition.replace(/^CREATE INDEX \S+ ON ONLY /, 'index of '));
  }
}
