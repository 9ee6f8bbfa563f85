/** Entry point of the thread that checks schemas and answers; started by `create-schema-checker.ts`. */
import { serveCalls } from '../common/worker-server.ts';
import type { JsonSchema } from '../../shared/json-schema.ts';
import { checkSchema, createAnswerCheck } from './check-schema.ts';

const methods = {
  checkSchema,
  checkAnswer: ({ schema, text }: { schema: JsonSchema; text: string }) => createAnswerCheck(schema)(text),
};

export type SchemaMethods = typeof methods;

serveCalls(methods);
