import { invalidField } from '../../shared/app-error.ts';
import type { Configuration } from '../../shared/contract/completions.ts';
import { toolFunctionOf } from '../../shared/contract/tools.ts';
import { describeSchemaIssue, type JsonSchema, type SchemaIssue } from '../../shared/json-schema.ts';
import type { SchemaChecker } from '../schemas/create-schema-checker.ts';

/** The schemas of a configuration, by the field names of errors. */
function schemasIn(configuration: Configuration): [field: string, schema: JsonSchema][] {
  const { response_format: format, tools } = configuration;
  const schemas: [string, JsonSchema][] = [];
  if (format?.type === 'json_schema')
    schemas.push(['configuration.response_format.json_schema.schema', format.json_schema.schema]);
  for (const [index, tool] of (tools ?? []).entries()) {
    const parameters = toolFunctionOf(tool)?.parameters;
    const field = 'function' in tool ? 'function.parameters' : 'parameters';
    if (parameters) schemas.push([`configuration.tools[${index}].${field}`, parameters]);
  }
  return schemas;
}

/** Throws 400 for an invalid schema. A promise only for schemas that were not checked before; null for every other request. */
export function checkSchemas(
  configuration: Configuration | null | undefined,
  schemas: Pick<SchemaChecker, 'check'>,
  signal: AbortSignal,
): Promise<unknown> | null {
  if (configuration?.response_format == null && configuration?.tools == null) return null;
  const pending: Promise<void>[] = [];
  const requireNone = (field: string, issue: SchemaIssue | null) => {
    if (issue) throw invalidField(field, describeSchemaIssue(issue));
  };
  for (const [field, schema] of schemasIn(configuration)) {
    const issue = schemas.check(schema, { signal });
    if (issue instanceof Promise) pending.push(issue.then((found) => requireNone(field, found)));
    else requireNone(field, issue);
  }
  return pending.length === 0 ? null : Promise.all(pending);
}
