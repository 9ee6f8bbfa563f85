// @module-tag slow
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { AuditFilter, AuditSort, AuditSummary } from '../../../shared/contract/audit.ts';
import { auditSorts } from '../../../shared/contract/audit.ts';
import { createRunRemoval } from '../../../electron/storage/retention-store.ts';
import { TeamEngine } from '../../../electron/team/team-engine.ts';
import { fc } from '../../support/fast-check.ts';
import { describeWithPostgres } from '../../support/postgres.ts';
import { longTest } from '../../support/patience.ts';
import { plainRunOf, randomFilter, randomRuns } from '../audit/random-runs.ts';
import { openEngine } from '../audit/test-engine.ts';
import { openTestStorage } from '../storage/test-storage.ts';
import type { AuditEngine } from '../../../electron/audit/index/audit-engine.ts';
import { connectTeam, createCopier, createTeamDatabase, usePostgres } from './team-world.ts';

const start = Date.UTC(2026, 0, 1);
const pause = async (): Promise<void> => {};
const sort = fc.constantFrom<AuditSort>(...auditSorts);
const moment = fc.integer({ min: 0, max: 41 }).map((after) => new Date(Date.UTC(2026, 0, 1) + after).toISOString());
const position = fc.record(
  {
    offset: fc.integer({ min: 0, max: 15 }),
    limit: fc.integer({ min: 1, max: 20 }),
    at: fc.option(moment, { freq: 8 }),
  },
  { requiredKeys: ['limit'] },
);

/** The same order for values that are equally frequent, also for those of headers. */
function ordered(counts: unknown): unknown {
  if (Array.isArray(counts)) return counts.map((each) => JSON.stringify(ordered(each))).toSorted();
  if (typeof counts !== 'object' || counts === null) return counts;
  return Object.fromEntries(Object.entries(counts).map(([name, value]: [string, unknown]) => [name, ordered(value)]));
}

function rounded(summary: AuditSummary): unknown {
  const text = JSON.stringify(
    {
      ...summary,
      statuses: summary.statuses.map((each) => JSON.stringify(each)).toSorted(),
      models: summary.models.map((each) => JSON.stringify(each, roundNumbers)).toSorted(),
    },
    roundNumbers,
  );
  return JSON.parse(text);
}

/** Sums of fractions differ in their last digits with the order of the summands. */
const roundNumbers = (_name: string, value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toPrecision(10)) : value;

/** Removes runs as retention does. */
function removeRuns(file: string, isChosen: (sequence: number) => boolean): void {
  const database = new Database(file);
  const { remove } = createRunRemoval(database);
  const all = database
    .prepare<[], { sequence: number; conversation: number }>('SELECT sequence, conversation FROM runs')
    .all();
  database.transaction(() => remove(all.filter(({ sequence }) => isChosen(sequence))))();
  database.close();
}

async function compareWalk(
  engine: AuditEngine,
  team: TeamEngine,
  filter: AuditFilter,
  pageSize: number,
): Promise<void> {
  let positions: [never, never] | [null, null] = [null, null];
  do {
    const request = { filter, pageSize, hasFeedback: true };
    const expected = engine.report({ ...request, position: positions[0] });
    const found = await team.report({ ...request, position: positions[1] });
    expect(found.conversations).toEqual(expected.conversations);
    expect(found.next && found.next.id).toEqual(expected.next && expected.next.id);
    positions = [expected.next, found.next] as never;
  } while (positions[0] !== null);
}

describeWithPostgres('the team database', () => {
  const server = usePostgres();

  test(
    'gives the same results as the embedded index for random filters, sorts, pages, facets and summaries',
    longTest,
    async () => {
      let queries = 0;
      await fc.assert(
        fc.asyncProperty(
          randomRuns,
          fc.array(fc.tuple(randomFilter, sort, position), { minLength: 75, maxLength: 75 }),
          // All in one moment, or over five months.
          fc.constantFrom(1, 4 * 86_400_000),
          async (random, requests, step) => {
            const spread = (time: number) => start + (time - start) * step;
            const spreadDate = (date: string) => new Date(spread(Date.parse(date))).toISOString();
            const storage = openTestStorage();
            for (const { run, outcome, feedback } of random.map(plainRunOf)) {
              storage.runs.begin({ ...run, createdAt: spread(run.createdAt) });
              await storage.runs.finish(run.runId, outcome);
              if (feedback !== null) storage.audit.giveFeedback(run, feedback, { reviewerId: 'reviewer' });
            }
            const connection = await connectTeam(await createTeamDatabase(server()));
            await createCopier(storage, connection).copyAll();
            const engine = openEngine(storage.directory);
            const team = new TeamEngine(connection.database);
            // Lists with many matches are read page by page.
            const paging = new TeamEngine(connection.database, { maxShortList: -1 });
            // Lists by time are collected month by month.
            const collecting = new TeamEngine(connection.database, { maxCollectMs: -1 });
            for (const [given, order, { at, ...page }] of requests) {
              const { startDate, endDate } = given;
              const filter = {
                ...given,
                ...(startDate && { startDate: spreadDate(startDate) }),
                ...(endDate && { endDate: spreadDate(endDate) }),
              };
              const request = { filter, sort: order, last: null, ...page, ...(at && { at: spreadDate(at) }) };
              const { last: _, ...expected } = engine.search(request);
              const { last: __, ...found } = await team.search(request);
              expect(found).toEqual(expected);
              for (const engineOfParts of [paging, collecting]) {
                const paged = await engineOfParts.search(request);
                expect({ rows: paged.rows, offset: paged.offset }).toEqual({ rows: found.rows, offset: found.offset });
              }
              expect(rounded(await team.summarize({ filter }))).toEqual(
                rounded(await engine.summarize({ filter }, pause)),
              );
              expect(ordered(await team.countFacets({ filter }))).toEqual(
                ordered(await engine.countFacets({ filter }, pause)),
              );
              await compareWalk(engine, [team, paging, collecting][(queries / 6) % 3]!, filter, page.limit);
              queries += 6;
            }
            await connection.close();
            await storage.close();
          },
        ),
        // To shrink a failing example would take minutes.
        { numRuns: 5, endOnFailure: true },
      );
      expect(queries).toBeGreaterThanOrEqual(2000);
    },
  );

  test(
    'keeps counts of days that give the same figures, also after feedback, removals and edges of days',
    longTest,
    async () => {
      const hours = (random: number) => Date.UTC(2026, 0, 1) + random * 7 * 3_600_000 + random;
      const edge = fc.option(fc.integer({ min: 0, max: 42 }).map((at) => new Date(hours(at)).toISOString()));
      const dates = fc.tuple(edge, edge).map(([startDate, endDate]) => ({ startDate, endDate }));
      await fc.assert(
        fc.asyncProperty(randomRuns, fc.array(dates, { minLength: 20, maxLength: 20 }), async (random, ranges) => {
          const storage = openTestStorage();
          const address = await createTeamDatabase(server());
          const connection = await connectTeam(address);
          const copier = createCopier(storage, connection);
          const [team, engine] = [new TeamEngine(connection.database), openEngine(storage.directory)];
          const compare = async () => {
            await copier.copyAll();
            for (const { startDate, endDate } of [{ startDate: null, endDate: null }, ...ranges]) {
              const filter =
                startDate !== null && endDate !== null && startDate > endDate ? { startDate } : { startDate, endDate };
              for (const bucketSize of [undefined, 'day', 'month'] as const) {
                const expected = await engine.summarize({ filter, bucketSize }, pause);
                expect(rounded(await team.summarize({ filter, bucketSize }))).toEqual(rounded(expected));
              }
              expect(ordered(await team.countFacets({ filter }))).toEqual(
                ordered(await engine.countFacets({ filter }, pause)),
              );
            }
            const { windowCallerId: _, callers: __, ...facets } = await team.facets('');
            const { callers: ___, ...expected } = engine.facets();
            expect(ordered(facets)).toEqual(ordered(expected));
          };
          const runs = random.map((each, index) => {
            const { run, outcome, feedback } = plainRunOf(each, index);
            return { run: { ...run, createdAt: hours(each.time) }, outcome, feedback };
          });
          for (const { run, outcome, feedback } of runs) {
            storage.runs.begin(run);
            await storage.runs.finish(run.runId, outcome);
            if (feedback !== null) storage.audit.giveFeedback(run, feedback, { reviewerId: 'reviewer' });
          }
          await compare();
          for (const [index, { run }] of runs.entries()) {
            if (index % 3 === 0)
              storage.audit.giveFeedback(run, { score: index % 7, scoreTags: 'late' }, { reviewerId: 'reviewer' });
          }
          await compare();
          removeRuns(storage.databaseFile, (sequence) => sequence % 2 === 0);
          await compare();
          removeRuns(storage.databaseFile, () => true);
          await compare();
          expect(await server().query(address, 'SELECT * FROM touchstone.terms')).toEqual([]);
          await connection.close();
          await storage.close();
        }),
        { numRuns: 3 },
      );
    },
  );
});
