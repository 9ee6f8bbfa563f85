import type Database from 'better-sqlite3';
import { prepareQuery } from './queries.ts';

export type FactName = 'window_caller_id' | 'token_secret' | 'settings' | 'retention' | 'retention_doubt' | 'samples';

/** Single values that the whole database shares. */
export interface Facts {
  read(name: FactName): string | null;
  write(name: FactName, value: string): void;
  /** The value that is there, or the made one, which is kept from then on. */
  readOrMake(name: FactName, make: () => string): string;
}

export function createFacts(database: Database.Database): Facts {
  const select = prepareQuery(database, (tables, input: { name: string }) =>
    tables.selectFrom('facts').select('value').where('name', '=', input.name),
  );
  const upsert = prepareQuery(database, (tables, input: { name: string; value: string }) =>
    tables
      .insertInto('facts')
      .values({ name: input.name, value: input.value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: input.value })),
  );
  const insertOnce = prepareQuery(database, (tables, input: { name: string; value: string }) =>
    tables
      .insertInto('facts')
      .values({ name: input.name, value: input.value })
      .onConflict((conflict) => conflict.doNothing()),
  );
  const read = (name: FactName) => select.first({ name })?.value ?? null;
  return {
    read,
    write: (name, value) => void upsert.run({ name, value }),
    readOrMake(name, make) {
      const present = read(name);
      if (present !== null) return present;
      insertOnce.run({ name, value: make() });
      return read(name)!;
    },
  };
}
