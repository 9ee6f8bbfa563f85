import { AppError, type ErrorDetail } from '../../../shared/app-error.ts';
import type { Check, CheckResult, SimpleCheck } from '../../../shared/contract/checks.ts';
import { describeSchemaIssue } from '../../../shared/json-schema.ts';
import { createLimitedCalls } from '../../common/limited-calls.ts';
import { createWorkerClient, startThread } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { ChecksMethods, LocalResult } from './checks-worker.ts';
import { combineResults } from './combine-results.ts';
import type { NamedModel } from '../judge/model-family.ts';
import type { CheckedRow } from './expected.ts';
import type { CheckedOutput, LocalCheck } from './local-checks.ts';
import { type CheckServices, type JudgedRun, runServiceCheck } from './service-checks.ts';

interface CheckOptions {
  readonly signal: AbortSignal;
}

interface RunOptions extends CheckOptions {
  /** The run that the answer is of; judges can't judge without. */
  readonly judged?: JudgedRun;
}

/** Runs the checks of comparisons. */
export interface CheckRunner {
  /** Throws `invalid_request` that names each invalid pattern, script or schema, such as `checks[2].pattern`. */
  validate(checks: readonly Check[], options: CheckOptions): Promise<void>;
  /**
   * One result per check. A check that can't be judged has the `pass` null: its limit was reached, a service failed, or the row has no
   * expected value. Rejects only as `runServiceCheck`.
   */
  run(checks: readonly Check[], output: CheckedOutput, row: CheckedRow, options: RunOptions): Promise<CheckResult[]>;
  /** Of judges that are of the same family of models as a variant. */
  warnings(checks: readonly Check[], variants: readonly NamedModel[]): string[];
  close(): Promise<void>;
}

export interface CheckLimits {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** A pattern on an answer of 4 MB takes up to some seconds. */
const defaultLimits: CheckLimits = { milliseconds: 10_000, megabytes: 512 };

function isLocal(check: SimpleCheck): check is LocalCheck {
  return !['jsonSchema', 'similarity', 'moderation', 'judge'].includes(check.kind);
}

/** The checks that combine no others, with their paths. */
function simpleChecks(
  checks: readonly Check[],
  path = 'checks',
): { readonly check: SimpleCheck; readonly path: string }[] {
  return checks.flatMap((check, index) => {
    const own = `${path}[${index}]`;
    return 'checks' in check ? simpleChecks(check.checks, `${own}.checks`) : [{ check, path: own }];
  });
}

/** Runs checks in a worker, which ends when a limit is reached. */
function createLocalRunner(limits: CheckLimits) {
  const worker = createWorkerClient<ChecksMethods>({
    name: 'Checking an answer',
    start: () => startThread(workerUrl(import.meta.url, 'checks-worker'), { maxHeapMegabytes: limits.megabytes }),
  });
  const limited = createLimitedCalls(worker, {
    milliseconds: limits.milliseconds,
    tooLong: 'The check took too long',
    tooLarge: 'The check needed too much memory',
  });

  async function run(
    checks: readonly LocalCheck[],
    output: CheckedOutput,
    row: CheckedRow,
    signal: AbortSignal,
  ): Promise<LocalResult[]> {
    if (checks.length === 0) return [];
    const results = await limited.run(signal, (options) => worker.call('run', { checks, output, row }, options));
    if (typeof results !== 'string') return results;
    if (checks.length === 1) return [results];
    // One of them reached the limit. The others still have their results.
    const separate: LocalResult[] = [];
    for (const check of checks) separate.push(...(await run([check], output, row, signal)));
    return separate;
  }

  return {
    /** The issue of a pattern or script; null if it is valid. */
    findIssue: (check: LocalCheck, signal: AbortSignal) =>
      limited.run(signal, (options) => worker.call('findIssue', check, options)),
    /** One result per check. */
    run,
    /** What a script makes of the answer, or why it couldn't. */
    transform: (code: string, output: CheckedOutput, row: CheckedRow, signal: AbortSignal) =>
      limited.run(signal, (options) => worker.call('transform', { code, output, row }, options)),
    close: limited.close,
  };
}

interface IssueOptions extends CheckOptions {
  readonly services: CheckServices;
  readonly locals: ReturnType<typeof createLocalRunner>;
}

/** What is invalid in a check that combines no others; null for a valid one. */
async function findIssue(
  check: SimpleCheck,
  { services, locals, signal }: IssueOptions,
): Promise<[field: string, issue: string] | null> {
  if (check.kind === 'jsonSchema') {
    const issue = await services.schemas.check(check.schema, { signal });
    return issue && ['schema', describeSchemaIssue(issue)];
  }
  if (check.kind === 'judge') {
    if (!services.judges) return null;
    const kind = services.judges.kindOf(check.judgeId);
    if (kind === null) return ['judgeId', 'is not a judge'];
    return kind === 'preference' ? ['judgeId', 'is a judge of preferences, which compares two answers'] : null;
  }
  if (check.kind === 'similarity' && check.transform !== undefined) {
    const issue = await locals.findIssue({ kind: 'javascript', code: check.transform }, signal);
    return issue === null ? null : ['transform', issue];
  }
  if (check.kind !== 'regularExpression' && check.kind !== 'javascript') return null;
  const issue = await locals.findIssue(check, signal);
  return issue === null ? null : [check.kind === 'javascript' ? 'code' : 'pattern', issue];
}

export function createCheckRunner(services: CheckServices, limits = defaultLimits): CheckRunner {
  const locals = createLocalRunner(limits);

  return {
    async validate(checks, { signal }) {
      const details: ErrorDetail[] = [];
      for (const { check, path } of simpleChecks(checks)) {
        const found = await findIssue(check, { services, locals, signal });
        if (found) details.push({ field: `${path}.${found[0]}`, issue: found[1] });
      }
      const [first] = details;
      if (first) throw new AppError('invalid_request', `${first.field} ${first.issue}.`, { details });
    },
    async run(checks, output, row, { signal, judged }) {
      const simple = simpleChecks(checks).map(({ check }) => check);
      const local = simple.filter(isLocal);
      const results = new Map<SimpleCheck, LocalResult>();
      const localResults = locals.run(local, output, row, signal);
      // It is awaited after the others and may reject before.
      localResults.catch(() => undefined);
      const context = { row, services, signal, judged };
      for (const check of simple) {
        if (isLocal(check)) continue;
        const code = check.kind === 'similarity' ? check.transform : undefined;
        const made = code === undefined ? null : await locals.transform(code, output, row, signal);
        if (typeof made === 'string') results.set(check, made);
        else {
          const compared = made === null ? output : { ...output, answer: made.text };
          results.set(check, await runServiceCheck(check, { output: compared, ...context }));
        }
      }
      for (const [index, result] of (await localResults).entries()) results.set(local[index]!, result);
      return checks.map((check) => combineResults(check, (each) => results.get(each)!));
    },
    warnings: (checks, variants) =>
      simpleChecks(checks).flatMap(({ check }) => {
        const warning = check.kind === 'judge' ? services.judges?.familyWarning(check.judgeId, variants) : null;
        return warning == null ? [] : [warning];
      }),
    close: locals.close,
  };
}
