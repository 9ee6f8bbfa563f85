import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { databaseFile } from '../../../electron/storage/database.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { parseTeamAddress } from '../../../shared/team-address.ts';
import { openTeamConnection, type TeamConnection } from '../../../electron/team/connection.ts';
import { Copier } from '../../../electron/team/copier.ts';
import { createLocalRuns } from '../../../electron/team/local-runs.ts';
import { TestPostgres, type TestPostgresOptions } from '../../support/postgres.ts';

/** One server for all tests of a file. */
export function usePostgres(options: TestPostgresOptions = {}): () => TestPostgres {
  let server: TestPostgres | null = null;
  beforeAll(async () => {
    server = await TestPostgres.start(options);
  });
  afterAll(() => server?.remove());
  return () => server!;
}

const prepared = new WeakMap<TestPostgres, Promise<string>>();

function currentMonth(later: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later)).toISOString();
}

async function prepare(server: TestPostgres): Promise<string> {
  const address = await server.createDatabase();
  const { database, close } = await openTeamConnection(parseTeamAddress(address), null);
  // The months of most tests' runs, and the one that is created ahead.
  for (const month of ['2026-01-01', '2026-11-01', currentMonth(0), currentMonth(1)])
    await sql`SELECT touchstone.create_partition(${month}::date)`.execute(database);
  await close();
  return address;
}

/** The address of a database that has the tables already. Creating them takes longer than copying them. */
export async function createTeamDatabase(server: TestPostgres): Promise<string> {
  if (!prepared.has(server)) prepared.set(server, prepare(server));
  return server.copyDatabase(await prepared.get(server)!);
}

/** A connection that is closed when the test ends. */
export async function connectTeam(address: string, password: string | null = null): Promise<TeamConnection> {
  const connection = await openTeamConnection(parseTeamAddress(address), password);
  onTestFinished(() => connection.close());
  return connection;
}

/** Copies what a data folder has recorded, as its thread does. */
export function createCopier(storage: Storage & { directory: string }, { database }: TeamConnection) {
  const local = new Database(databaseFile(storage.directory), { readonly: true });
  onTestFinished(() => void local.close());
  const copier = new Copier(database, createLocalRuns(local));
  return {
    step: () => copier.step(),
    async copyAll(): Promise<void> {
      storage.flush();
      let progress = await copier.step();
      while (progress.copied > 0 || progress.waiting > 0) progress = await copier.step();
    },
  };
}
