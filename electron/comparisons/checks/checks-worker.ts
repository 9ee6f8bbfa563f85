/** Entry point of the thread that runs patterns, scripts and the other checks that need no service; started by `create-check-runner.ts`. */
import { serveCalls } from '../../common/worker-server.ts';
import { type CheckedRow, NotJudged } from './expected.ts';
import { compilePattern, type CheckedOutput, type LocalCheck, type Outcome, runLocalCheck } from './local-checks.ts';
import { findScriptError, runTransform } from './script-runner.ts';

interface LocalChecks {
  readonly checks: readonly LocalCheck[];
  readonly output: CheckedOutput;
  readonly row: CheckedRow;
}

interface Transformed extends Omit<LocalChecks, 'checks'> {
  readonly code: string;
}

/** The outcome of a check, or why it couldn't be judged. */
export type LocalResult = Outcome | string;

const methods = {
  /** One result per check. */
  async run({ checks, output, row }: LocalChecks): Promise<LocalResult[]> {
    const results: LocalResult[] = [];
    for (const check of checks) {
      try {
        results.push(await runLocalCheck(check, { output, row }));
      } catch (error) {
        results.push(describe(error));
      }
    }
    return results;
  },
  /** What a script makes of the answer, or why it couldn't. */
  async transform({ code, output, row }: Transformed): Promise<{ readonly text: string } | string> {
    const { answer, toolCalls, latencyMs, cost } = output;
    try {
      return { text: await runTransform(code, { answer, row, toolCalls, latencyMs, cost }) };
    } catch (error) {
      return describe(error);
    }
  },
  /** What is wrong with a pattern or a script as the end of a sentence; null if nothing. */
  async findIssue(check: LocalCheck): Promise<string | null> {
    try {
      // A literal value may be in each place of a column.
      if (check.kind === 'regularExpression')
        compilePattern(check.pattern.replaceAll(/\{\{[^{}]*\}\}/g, 'x'), check.flags);
      const error = check.kind === 'javascript' ? await findScriptError(check.code) : null;
      return error === null ? null : `is not valid JavaScript: ${error}`;
    } catch (error) {
      return describe(error);
    }
  },
};

function describe(error: unknown): string {
  if (error instanceof NotJudged) return error.message;
  if (error instanceof RangeError) return 'The answer is too long or too deeply nested to check';
  throw error;
}

export type ChecksMethods = typeof methods;

serveCalls(methods);
