import { createHash } from 'node:crypto';
import type { AnswerCheck } from '../../shared/contract/schemas.ts';
import { type JsonSchema, schemaLimitIssue, type SchemaIssue } from '../../shared/json-schema.ts';
import { createMutex } from '../common/mutex.ts';
import { type CallOptions, createWorkerClient, startThread } from '../common/worker-client.ts';
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

/** Says which limit a call reached; null for other errors. */
function describeLimit(error: unknown): string | null {
  const { name, code } = error as { readonly name?: string; readonly code?: string };
  if (name === 'TimeoutError') return 'takes too long to check';
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'needs too much memory to check' : null;
}

export function createSchemaChecker(limits: CheckLimits = defaultLimits): SchemaChecker {
  const mutex = createMutex(() => undefined);
  const closing = new AbortController();
  const known = new Set<string>();
  const worker = createWorkerClient<SchemaMethods>({
    name: 'Checking a schema',
    start: () => startThread(workerUrl(import.meta.url, 'schema-worker'), { maxHeapMegabytes: limits.megabytes }),
  });

  /** One call at a time, because a limit ends the thread. Resolves with the limit that the call reached instead of its result. */
  async function limited<Result>(
    outer: AbortSignal,
    call: (options: CallOptions) => Promise<Result>,
  ): Promise<Result | string> {
    const signal = AbortSignal.any([outer, closing.signal]);
    const release = await mutex.take({ signal });
    try {
      return await call({ signal, onAbort: 'terminate', timeLimitMs: limits.milliseconds });
    } catch (error) {
      const limit = signal.aborted ? null : describeLimit(error);
      if (limit === null) throw error;
      return limit;
    } finally {
      release();
    }
  }

  async function checkNew(schema: JsonSchema, hash: string, signal: AbortSignal): Promise<SchemaIssue | null> {
    const issue = await limited(signal, (options) => worker.call('checkSchema', schema, options));
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
      const check = await limited(signal, (options) => worker.call('checkAnswer', { schema, text }, options));
      if (typeof check !== 'string') return check;
      return { outcome: 'unchecked', reason: `The answer ${check}`, errors: [], errorCount: 0 };
    },
    async close() {
      const reason = new DOMException('The host was closed.', 'AbortError');
      closing.abort(reason);
      await worker.terminate(reason);
    },
  };
}
