import { AppError } from '../../shared/app-error.ts';
import { type AnswerCheck, checkRunAnswer, checkSchema } from '../../shared/contract/schemas.ts';
import { isObject, type JsonSchema } from '../../shared/json-schema.ts';
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

export interface SchemaHandlerOptions {
  readonly schemas: Pick<SchemaChecker, 'check' | 'checkAnswer'>;
  readonly runs: Pick<RunStore, 'read'>;
}

export function schemaHandlers({ schemas, runs }: SchemaHandlerOptions): Handler[] {
  return [
    implement(checkSchema, async ({ body, signal }) => ({ issue: await schemas.check(body.schema, { signal }) })),
    implement(checkRunAnswer, async ({ parameters, signal }) => {
      const run = runs.read(parameters.id.toLowerCase());
      if (run === null) throw new AppError('not_found', 'There is no run with this id.');
      const schema = schemaOf(run);
      if (schema === null || run.status !== 'Completed') return nothingToCheck;
      return schemas.checkAnswer(schema, run.output.content, { signal });
    }),
  ];
}
