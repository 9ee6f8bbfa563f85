import { AppError } from '../../shared/app-error.ts';
import {
  type AnswerCheck,
  checkRunAnswer,
  checkRunToolCalls,
  checkSchema,
  type ToolCallCheck,
} from '../../shared/contract/schemas.ts';
import { isObject, type JsonSchema } from '../../shared/json-schema.ts';
import { toolFunctionOf, toolFunctions } from '../../shared/contract/tools.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import type { SchemaChecker } from '../schemas/create-schema-checker.ts';
import type { RunStore } from '../storage/storage.ts';
import { type Handler, implement } from './api.ts';

const nothingToCheck: AnswerCheck = { outcome: 'none', reason: null, errors: [], errorCount: 0 };

/** The schema that a run's answer was to follow; null for none. */
function schemaOf({ input: { configuration }, warnings }: RunDetail): JsonSchema | null {
  const format = configuration?.['response_format'];
  if (!isObject(format) || format['type'] !== 'json_schema' || !isObject(format['json_schema'])) return null;
  if (warnings.some(({ parameter }) => parameter === 'response_format')) return null;
  const { schema } = format['json_schema'];
  return isObject(schema) ? schema : null;
}

/** The checks of up to 128 calls take no longer than this together; the rest is not checked. */
const maxCallChecksMs = 10_000;

/** Checks the arguments of each call. A call without arguments has an empty object. */
async function checkCalls(
  { input, output }: RunDetail,
  schemas: Pick<SchemaChecker, 'checkAnswer'>,
  signal: AbortSignal,
): Promise<ToolCallCheck[]> {
  const configuration = input.configuration ?? {};
  const tools = new Map(toolFunctions(configuration).map((tool) => [tool.name, tool]));
  const list = Array.isArray(configuration['tools']) ? configuration['tools'] : [];
  const hasProviderTools = list.some((tool) => toolFunctionOf(tool) === null);
  const startedAt = performance.now();
  const checks: ToolCallCheck[] = [];
  for (const { name, arguments: text } of output.toolCalls ?? []) {
    const tool = tools.get(name);
    let check = nothingToCheck;
    if (tool && performance.now() - startedAt > maxCallChecksMs) check = { ...nothingToCheck, outcome: 'unchecked' };
    else if (tool) check = await schemas.checkAnswer(tool.parameters, text.trim() === '' ? '{}' : text, { signal });
    checks.push({ ...check, isKnownTool: tool !== undefined || hasProviderTools });
  }
  return checks;
}

export interface SchemaHandlerOptions {
  readonly schemas: Pick<SchemaChecker, 'check' | 'checkAnswer'>;
  readonly runs: Pick<RunStore, 'read'>;
}

export function schemaHandlers({ schemas, runs }: SchemaHandlerOptions): Handler[] {
  function requireRun(id: string): RunDetail {
    const run = runs.read(id.toLowerCase());
    if (run === null) throw new AppError('not_found', 'There is no run with this id.');
    return run;
  }
  return [
    implement(checkSchema, async ({ body, signal }) => ({ issue: await schemas.check(body.schema, { signal }) })),
    implement(checkRunAnswer, async ({ parameters, signal }) => {
      const run = requireRun(parameters.id);
      const schema = schemaOf(run);
      if (schema === null || run.status !== 'Completed') return nothingToCheck;
      return schemas.checkAnswer(schema, run.output.content, { signal });
    }),
    implement(checkRunToolCalls, async ({ parameters, signal }) => ({
      calls: await checkCalls(requireRun(parameters.id), schemas, signal),
    })),
  ];
}
