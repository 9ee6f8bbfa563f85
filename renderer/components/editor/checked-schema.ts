import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { checkSchema } from '../../../shared/contract/schemas.ts';
import { isObject, type JsonSchema, schemaLimitIssue, type SchemaIssue } from '../../../shared/json-schema.ts';
import { portableSchema } from '../../../shared/portable-schema.ts';
import { lintSchema, type SchemaFinding } from '../../../shared/schema-lint.ts';
import { schemaTargets } from '../../../shared/schema-rules.ts';
import { parseJson } from '../../drafts/json-text.ts';
import { useHost } from '../../host/host-context.tsx';

const pauseMs = 300;

/** The text after a pause in typing: a check takes longer than a key press. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

/** The schema in a text, which may be inside `{"name", "schema", ...}`; null if there is none. */
export function readSchema(text: string): JsonSchema | null {
  const parsed = parseJson(text);
  const value = 'value' in parsed ? parsed.value : null;
  if (!isObject(value)) return null;
  return isObject(value['schema']) ? value['schema'] : value;
}

/** The host's check of a schema; null while there is no schema. */
function useSchemaCheck(schema: JsonSchema | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: ['schema-check', schema],
    enabled: schema !== null,
    // Each edit is a new schema, so nothing is cached.
    gcTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => client.call(checkSchema, { signal, body: { schema: schema! } }),
  });
}

/** A schema that is checked after each pause in typing. The issue is undefined until the check completes. */
export function useCheckedSchema(
  text: string,
  read: (text: string) => JsonSchema | null = readSchema,
): { schema: JsonSchema | null; issue: SchemaIssue | null | undefined } {
  const paused = usePaused(text);
  const schema = useMemo(() => read(paused), [paused, read]);
  const limit = useMemo(() => schema && schemaLimitIssue(schema), [schema]);
  const { data, isPlaceholderData } = useSchemaCheck(limit ? null : schema);
  if (schema === null || paused !== text) return { schema, issue: undefined };
  return { schema, issue: limit ?? (isPlaceholderData ? undefined : data?.issue) };
}

/** What the providers don't support in a schema, and the schema in the form that all of them accept. */
export interface SchemaLint {
  readonly schema: JsonSchema;
  readonly findings: readonly SchemaFinding[];
  /** Null if nothing would change. */
  readonly fixed: JsonSchema | null;
}

/** The fix, unless it is the same. */
function fixOf(schema: JsonSchema, findings: readonly SchemaFinding[]): JsonSchema | null {
  if (findings.length === 0) return null;
  const fixed = portableSchema(schema);
  return JSON.stringify(fixed) === JSON.stringify(schema) ? null : fixed;
}

/**
 * Lints a schema for each provider in a separate task: all of them take up to 300 ms for 100 KB. Returns the previous schema's result
 * until the new one's is complete, and null for none.
 */
export function useSchemaLint(schema: JsonSchema | null): SchemaLint | null {
  const [lint, setLint] = useState<SchemaLint | null>(null);
  useEffect(() => {
    if (schema === null) return;
    const waiting = [...schemaTargets];
    const findings: SchemaFinding[] = [];
    const next = (): void => {
      const target = waiting.shift();
      if (target) findings.push(...lintSchema(schema, [target]));
      else setLint({ schema, findings, fixed: fixOf(schema, findings) });
      if (target) timer = setTimeout(next);
    };
    let timer = setTimeout(next);
    return () => clearTimeout(timer);
  }, [schema]);
  return schema === null ? null : lint;
}
