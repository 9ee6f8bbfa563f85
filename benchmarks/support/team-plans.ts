import pg from 'pg';

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The settings of its transaction. */
  readonly settings: readonly string[];
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

export interface TeamPlan {
  readonly text: string;
  /** Kinds of steps with their tables or indexes, each once; partitions without their months. */
  readonly steps: readonly string[];
  readonly isScan: boolean;
}

/** Records the statements that read while `work` runs, each text once. */
export async function recordStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const found = new Map<string, Statement>();
  const settings = new WeakMap<pg.Client, string[]>();
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function (
    this: pg.Client,
    text: string | { text: string; values?: unknown[] },
    values?: unknown[],
  ) {
    const [statement, given] = typeof text === 'string' ? [text, values ?? []] : [text.text, text.values ?? []];
    const own = settings.get(this) ?? [];
    if (/^\s*(begin|commit|rollback)/i.test(statement)) settings.set(this, []);
    else if (/^\s*SET LOCAL enable/i.test(statement)) settings.set(this, [...own, statement]);
    else if (/^[\s(]*(select|with)/i.test(statement) && statement.includes('touchstone.'))
      found.set(`${own.join(';')} ${statement}`, { text: statement, values: given, settings: own });
    return (original as unknown as (...all: unknown[]) => unknown).call(this, text, values);
  } as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return [...found.values()];
}

const large = /^(runs|run_texts|conversations|feedback_history)(_|$)/;

function stepsOf(node: PlanNode, isLarge: (table: string) => boolean): { steps: string[]; isScan: boolean } {
  const inner = (node.Plans ?? []).map((each) => stepsOf(each, isLarge));
  const table = node['Relation Name'] ?? '';
  const name = (node['Index Name'] ?? table).replace(/_(\d{4}_\d\d|other)/, '');
  return {
    steps: [`${node['Node Type']}${name === '' ? '' : ` ${name}`}`, ...inner.flatMap(({ steps }) => steps)],
    isScan:
      (node['Node Type'] === 'Seq Scan' && large.test(table) && isLarge(table)) || inner.some(({ isScan }) => isScan),
  };
}

/** The server's plan of each statement. A small partition may be read as a whole. */
export async function plansOf(client: pg.Client, statements: readonly Statement[]): Promise<TeamPlan[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE reltuples > 10000 AND relnamespace = 'touchstone'::regnamespace",
  );
  const names = new Set(tables.map(({ name }) => name));
  const plans: TeamPlan[] = [];
  for (const { text, values, settings } of statements) {
    await client.query('BEGIN');
    for (const setting of settings) await client.query(setting);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (FORMAT JSON) ${text.replace(/^\s*EXPLAIN \(FORMAT JSON\)/, '')}`,
      [...values],
    );
    await client.query('ROLLBACK');
    const { steps, isScan } = stepsOf(rows[0]!['QUERY PLAN'][0].Plan, (table) => names.has(table));
    plans.push({ text, steps: [...new Set(steps)], isScan });
  }
  return plans;
}
