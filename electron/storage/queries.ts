import {
  type Compilable,
  DummyDriver,
  Kysely,
  type RawBuilder,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Schema } from './schema.ts';
import type Database from 'better-sqlite3';

export type MetadataName =
  | 'window_caller_id'
  | 'installation_id'
  | 'token_secret'
  | 'settings'
  | 'retention'
  | 'retention_doubt'
  | 'samples'
  | 'capability_tests'
  | 'team'
  | 'team_mark';

/** Single values of the whole database. */
export interface Metadata {
  read(name: MetadataName): string | null;
  write(name: MetadataName, value: string): void;
  /** The stored value. If there is none, creates and stores one. */
  readOrMake(name: MetadataName, make: () => string): string;
}

export function createMetadata(database: Database.Database): Metadata {
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
  const read = (name: MetadataName) => select.first({ name })?.value ?? null;
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

type BoundValue = string | number | null | Uint8Array;

/** A statement that is ready to run with named inputs. */
export interface Query<Input, Row> {
  /** Runs it and returns the number of changed rows. */
  run(input: Input): number;
  first(input: Input): Row | undefined;
  all(input: Input): Row[];
  /** Reads each row on demand until the loop ends. Don't write to the database inside it. */
  each(input: Input): IterableIterator<Row>;
}

/** A placeholder for an input while the SQL text is built, which shows its position among the parameters. */
class InputPosition {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const inputPositions = new Proxy({}, { get: (_target, name) => new InputPosition(String(name)) });

/** Only builds SQL text. It never runs a query. */
const tables = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * A number that doesn't influence how SQLite runs a statement. If a bound number does (a limit, or a key in a join), SQLite prepares the statement
 * again with every use, which takes ten times as long as to read one row.
 */
export const plainNumber = (input: number): RawBuilder<number> => sql<number>`${input} + 0`;

/**
 * Creates a statement from a typed Kysely query. It runs synchronously and without Kysely, because building or awaiting a query takes
 * several times as long as SQLite needs to run it. The first use prepares it: a start needs few of the host's 300 statements.
 */
export function prepareQuery<Input extends object, Row>(
  database: Database.Database,
  build: (tables: Kysely<Schema>, input: Input) => Compilable<Row>,
): Query<Input, Row> {
  let query: Query<Input, Row> | null = null;
  const prepared = () => (query ??= prepareNow(database, build));
  return {
    run: (input) => prepared().run(input),
    first: (input) => prepared().first(input),
    all: (input) => prepared().all(input),
    each: (input) => prepared().each(input),
  };
}

function prepareNow<Input extends object, Row>(
  database: Database.Database,
  build: (tables: Kysely<Schema>, input: Input) => Compilable<Row>,
): Query<Input, Row> {
  const { sql: text, parameters } = build(tables, inputPositions as Input).compile();
  const statement = database.prepare<BoundValue[], Row>(text);
  const bind = (input: Input) =>
    parameters.map((parameter) =>
      parameter instanceof InputPosition
        ? (input as Record<string, BoundValue>)[parameter.name]!
        : (parameter as BoundValue),
    );
  return {
    run: (input) => statement.run(...bind(input)).changes,
    first: (input) => statement.get(...bind(input)),
    all: (input) => statement.all(...bind(input)),
    each: (input) => statement.iterate(...bind(input)),
  };
}

/** The named inputs as the values of an insert or an update. */
export function valuesOf<Input, Name extends keyof Input>(input: Input, names: readonly Name[]): Pick<Input, Name> {
  return Object.fromEntries(names.map((name) => [name, input[name]])) as Pick<Input, Name>;
}
