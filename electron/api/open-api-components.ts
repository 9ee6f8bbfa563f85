import { z } from 'zod';
import { errorBody } from '../../shared/contract/common.ts';

export type Json = Record<string, unknown>;

const errorDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is not valid; `details` names the fields',
  401: 'The API key is missing, wrong or contradicted',
  402: 'The credits of the API key are used up',
  403: 'The API key or the origin may not do this',
  404: 'There is nothing with this id',
  409: 'Conflicts with the current state',
  413: 'The body is too large',
  415: 'The body is of another media type',
  421: 'The request was meant for another host',
  429: 'The API key or the provider limits the rate; `retry-after` says when to go on',
  500: 'A failure of the service itself',
  502: 'The provider failed',
  503: 'The provider is not set up, refused its key or is overloaded',
  504: 'The provider stopped responding',
};

export const headerDescriptions: Readonly<Record<string, Json>> = {
  'x-request-id': { description: 'Names this request in the log', schema: { type: 'string', format: 'uuid' } },
  'x-served-by': {
    description: 'The model that answered, `<aiSystem>/<model>`; what is not ASCII is percent-encoded',
    schema: { type: 'string' },
  },
  'x-run-id': { description: 'The run, as in the body', schema: { type: 'string', format: 'uuid' } },
  'x-conversation-id': { description: 'The conversation of the run', schema: { type: 'string', format: 'uuid' } },
  'x-credits-consumed': { description: 'Credits that this call costs', schema: { type: 'integer' } },
  'x-credits-remaining': { description: 'Credits that are left, for a key with a limit', schema: { type: 'integer' } },
  'RateLimit-Limit': {
    description: 'For a key with limits per minute: the limit that is reached first, of requests or of tokens',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'What is left of that limit', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the limit starts again', schema: { type: 'integer' } },
  'retry-after': { description: 'Seconds after which a new attempt makes sense', schema: { type: 'integer' } },
};

/** Headers of every run that has started. */
export const runHeaders = Object.keys(headerDescriptions).filter((name) => name !== 'retry-after');

/** Headers of every response to a key. */
export const keyHeaders = ['x-request-id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Statuses of runs that failed after the start. Their headers name the run. */
const failuresOfRuns = new Set([429, 502, 503, 504]);

/** Collects the error responses and the schemas that have an id, so that the document contains each once. */
export class Components {
  readonly schemas = new Map<string, Json>();
  readonly responses = new Map<string, Json>();

  /** `input` describes requests, `output` responses. */
  schema(schema: z.ZodType, io: 'input' | 'output'): Json {
    const {
      $schema: _,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io,
      // Later versions can add fields to responses. Only requests are closed to additional properties.
      override: ({ zodSchema, jsonSchema }) => {
        if (io === 'output' && zodSchema._zod.def.type === 'object') delete jsonSchema.additionalProperties;
      },
    }) as Json;
    const definitions = ($defs ?? {}) as Record<string, Json>;
    const names = this.#namesFor(definitions, io);
    for (const [id, definition] of Object.entries(definitions)) {
      this.schemas.set(names.get(id) ?? id, rewriteReferences(definition, names));
    }
    return rewriteReferences(root, names);
  }

  /** A schema gets two names if it, or one that it contains, differs between input and output. */
  #namesFor(definitions: Record<string, Json>, io: 'input' | 'output'): Map<string, string> {
    const names = new Map(Object.keys(definitions).map((id) => [id, id]));
    const isTaken = (id: string, definition: Json): boolean => {
      const known = this.schemas.get(id);
      return known !== undefined && JSON.stringify(known) !== JSON.stringify(rewriteReferences(definition, names));
    };
    for (let hasChanged = true; hasChanged;) {
      const other = Object.entries(definitions).find(([id, one]) => names.get(id) === id && isTaken(id, one));
      hasChanged = other !== undefined;
      if (other) names.set(other[0], `${other[0]}${io === 'input' ? 'Input' : 'Output'}`);
    }
    return names;
  }

  error(status: number): Json {
    const name = `Error${status}`;
    const names = failuresOfRuns.has(status) ? runHeaders : ['x-request-id'];
    this.responses.set(name, {
      description: errorDescriptions[status] ?? 'The request failed',
      headers: headers(status === 429 || status === 503 ? [...names, 'retry-after'] : names),
      content: { 'application/json': { schema: this.schema(errorBody, 'output') } },
    });
    return { $ref: `#/components/responses/${name}` };
  }
}

function rewriteReferences<Value>(value: Value, names: ReadonlyMap<string, string>): Value {
  if (Array.isArray(value)) return value.map((item) => rewriteReferences(item as unknown, names)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => key !== 'id' || typeof (value as Json)['id'] !== 'string')
    .map(([key, inner]) => {
      const id = key === '$ref' && typeof inner === 'string' ? inner.replace('#/$defs/', '') : null;
      return [
        key,
        id === null ? rewriteReferences(inner as unknown, names) : `#/components/schemas/${names.get(id) ?? id}`,
      ];
    });
  return Object.fromEntries(entries) as Value;
}

/** Headers by name, as references to their descriptions. */
export function headers(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
