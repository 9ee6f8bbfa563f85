import { sql } from 'kysely';
import { isFlagPlan, type Population, type SampledFields } from '../reviews/choose-items.ts';
import type { PopulationRun } from '../storage/reviews/queue-rows.ts';
import type { TeamDatabase } from './connection.ts';
import { matches } from './filter-conditions.ts';

/** Rows of one step of the cursor. */
const runsAtOnce = 2000;

interface Row extends Omit<PopulationRun, 'model' | 'isFlagged'> {
  /** Provider and model as JSON. */
  readonly servedModel: string;
  readonly isFlagged: boolean;
}

/** Whether the guard flagged the run, or any run of its conversation. */
function isFlagged({ itemType }: SampledFields) {
  const flags = sql`ARRAY(SELECT term FROM touchstone.terms WHERE split_part(term, '=', 1) = 'moderation')`;
  return itemType === 'run'
    ? sql`terms && ${flags}`
    : sql`EXISTS (SELECT 1 FROM touchstone.runs WHERE conversation_id = n.conversation_id AND terms && ${flags})`;
}

function runOf({ servedModel, isFlagged: flagged, ...row }: Row): PopulationRun {
  return { ...row, model: (JSON.parse(servedModel) as string[]).join('/'), isFlagged: Number(flagged) };
}

/** What a filter matches in the team database. Sequences are those of arrival there. */
export function createTeamPopulation(database: TeamDatabase): Population {
  const columns = (flagged: ReturnType<typeof sql>) =>
    sql`sequence, id AS "runId", conversation_id AS "conversationId", served_model AS "servedModel", created_at AS "createdAt",
      score, score_tags AS tags, ${flagged} AS "isFlagged"`;
  return {
    async *runs(fields, signal) {
      const { filter, itemType, plan } = fields;
      // Flags of the other runs of a conversation are read only where the plan looks at them.
      const selected = columns(isFlagPlan(plan) ? isFlagged(fields) : sql`false`);
      const [newest, order] =
        itemType === 'conversation'
          ? [sql`DISTINCT ON (conversation_id)`, sql`ORDER BY conversation_id, sequence DESC`]
          : [sql``, sql``];
      const transaction = await database.startTransaction().setAccessMode('read only').execute();
      try {
        await sql`DECLARE population NO SCROLL CURSOR FOR
          SELECT ${newest} ${selected} FROM touchstone.runs AS n WHERE ${matches(filter, 'n')} ${order}`.execute(
          transaction,
        );
        for (;;) {
          const { rows } = await sql<Row>`FETCH ${sql.raw(String(runsAtOnce))} FROM population`.execute(transaction);
          yield rows.map(runOf);
          if (rows.length < runsAtOnce) break;
          signal.throwIfAborted();
        }
      } finally {
        await transaction.rollback().execute();
      }
    },
    async read(sequences, fields) {
      const { rows } = await sql<Row>`SELECT ${columns(isFlagged(fields))} FROM touchstone.runs AS n
        WHERE sequence = ANY(${sequences}::bigint[])`.execute(database);
      return rows.map(runOf);
    },
  };
}
