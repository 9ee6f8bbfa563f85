import { z } from 'zod';
import { describeSchemaIssue, schemaLimitIssue } from '../json-schema.ts';

/** A JSON schema within the limits of size and depth. */
export const limitedSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  const issue = schemaLimitIssue(schema);
  if (issue) context.addIssue({ code: 'custom', message: describeSchemaIssue(issue) });
});
