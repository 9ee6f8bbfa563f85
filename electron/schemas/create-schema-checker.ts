import { createHash } from 'node:crypto';
import type { AnswerCheck } from '../../shared/contract/schemas.ts';
import { type JsonSchema, schemaLimitIssue, type SchemaIssue } from '../../shared/json-schema.ts';
import { createLimitedCalls } from '../common/limited-calls.ts';
import { createWorkerClient, startThread } from '../common/worker-client.ts';
import { workerUrl } from '../common/worker-url.ts';
import type { SchemaMethods } from './schema-worker.ts';

interface CheckOptions {
  readonly signal: AbortSignal;
}

/**
 * Checks schemas, and answers against schemas, one at a time in a thread with limits of memory and time: a malicious schema may need
 * too much of either, and a malicious pattern too much time on a long answer.
 */
export interface SchemaChecker {
  /** Null for a valid schema. Only a schema that wasn't checked before needs a promise. */
  check(schema: JsonSchema, options: CheckOptions): SchemaIssue | null | Promise<SchemaIssue | null>;
  checkAnswer(schema: JsonSchema, text: string, options: CheckOptions): Promise<AnswerCheck>;
  close(): Promise<void>;
}

export interface CheckLimits {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** The largest schemas and answers take about a second on a slow machine. */
const defaultLimits: CheckLimits = { milliseconds: 10_000, megabytes: 512 };

/** Schemas whose check is remembered by their hash. */
const maxKnown = 1000;

export function createSchemaChecker(limits: CheckLimits = defaultLimits): SchemaChecker {
  const known = new Set<string>();
  const worker = createWorkerClient<SchemaMethods>({
    name: 'Checking a schema',
    start: () => startThread(workerUrl(import.meta.url, 'schema-worker'), { maxHeapMegabytes: limits.megabytes }),
  });

  const limited = createLimitedCalls(worker, {
    milliseconds: limits.milliseconds,
    tooLong: 'takes too long to check',
    tooLarge: 'needs too much memory to check',
  });

  async function checkNew(schema: JsonSchema, hash: string, signal: AbortSignal): Promise<SchemaIssue | null> {
    const issue = await limited.run(signal, (options) => worker.call('checkSchema', schema, options));
    if (typeof issue === 'string') return { pointer: '', issue };
    if (issue !== null) return issue;
    if (known.size >= maxKnown) known.clear();
    known.add(hash);
    return null;
  }

  return {
    check(schema, { signal }) {
      const limit = schemaLimitIssue(schema);
      if (limit) return limit;
      const hash = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
      return known.has(hash) ? null : checkNew(schema, hash, signal);
    },
    async checkAnswer(schema, text, { signal }) {
      const check = await limited.run(signal, (options) => worker.call('checkAnswer', { schema, text }, options));
      if (typeof check !== 'string') return check;
      return { outcome: 'unchecked', reason: `The answer ${check}`, errors: [], errorCount: 0 };
    },
    close: limited.close,
  };
}
