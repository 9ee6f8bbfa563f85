import { z } from 'zod';
import type { Endpoint, Form, ResponseKind } from '../../shared/contract/endpoint.ts';
import { endpoints as contract } from '../../shared/contract/index.ts';
import { readOpenApi } from '../../shared/contract/open-api.ts';
import { type Handler, implement } from './api.ts';
import { errorDescriptions, headerDescriptions, tagDescriptions } from './open-api-descriptions.ts';
import { JsonResponse, SharedJson } from './json-response.ts';
import { errorBody } from '../../shared/contract/common.ts';

type Json = Record<string, unknown>;

/** Headers of a response that passes unchanged otherwise. */
const passedHeaders = Object.keys(headerDescriptions).filter((name) => name.startsWith('x-touchstone-'));

/** Headers of every run that has started. */
const runHeaders = Object.keys(headerDescriptions).filter(
  (name) => name !== 'retry-after' && !passedHeaders.includes(name),
);

/** Headers of every response to a key. */
const keyHeaders = ['x-request-id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Statuses of runs that failed after the start. Their headers name the run. */
const failuresOfRuns = new Set([429, 502, 503, 504]);

/** Collects the error responses and the schemas that have an id, so that the document contains each once. */
class Components {
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
function headers(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Whether an endpoint runs a model. Its responses have headers with the model and the cost. */
function isRun(endpoint: Endpoint): boolean {
  return endpoint.errors?.includes(402) === true && endpoint.errors.includes(502);
}

function parameters(endpoint: Endpoint, components: Components): Json[] {
  const of = (schema: z.ZodType | undefined, where: 'path' | 'query'): Json[] => {
    if (!schema) return [];
    const { properties = {}, required = [] } = components.schema(schema, 'input') as {
      properties?: Record<string, Json>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      schema: property,
    }));
  };
  return [...of(endpoint.parameters, 'path'), ...of(endpoint.query, 'query')];
}

/**
 * A stream of events is described as text: OpenAPI 3.1 can't describe its events, and a proxy that validates responses would compare
 * the whole body with the schema of one event. `x-event-schema` holds that schema until OpenAPI 3.2's `itemSchema` is common.
 */
function answerContent(endpoint: Endpoint, components: Components): Json {
  const kinds: readonly ResponseKind[] = endpoint.kinds ?? ['json'];
  const part = endpoint.part && kinds.some((kind) => kind !== 'json') ? components.schema(endpoint.part, 'output') : {};
  const json: Json[] = [];
  if (kinds.includes('json') && endpoint.response) json.push(components.schema(endpoint.response, 'output'));
  if (kinds.includes('json-array')) json.push({ type: 'array', items: part });
  return {
    ...(json.length === 0 ? {} : { 'application/json': { schema: json.length === 1 ? json[0] : { anyOf: json } } }),
    ...(kinds.includes('event-stream')
      ? { 'text/event-stream': { schema: { type: 'string' }, 'x-event-schema': part } }
      : {}),
  };
}

const kindDescriptions: Readonly<Record<ResponseKind, string>> = {
  json: 'One JSON object.',
  'json-array': 'Streamed: one JSON array that grows by one element for each chunk.',
  'event-stream':
    'Streamed: server-sent events, each one line `data: <JSON>` and an empty line. `x-event-schema` describes the JSON.',
  file: 'A file.',
  empty: 'No body.',
};

function successHeaders(endpoint: Endpoint): readonly string[] {
  if (endpoint.passes) return passedHeaders;
  if (isRun(endpoint)) return runHeaders;
  return endpoint.access === 'public' ? ['x-request-id'] : keyHeaders;
}

function responses(endpoint: Endpoint, components: Components): Json {
  const given = endpoint.kinds ?? ['json'];
  // A response without a body has another status.
  const canBeEmpty = given.length > 1 && given.includes('empty');
  const kinds = canBeEmpty ? given.filter((kind) => kind !== 'empty') : given;
  const names = successHeaders(endpoint);
  const content = answerContent(endpoint, components);
  const hasBody = endpoint.body !== undefined || endpoint.form !== undefined;
  const errors = [
    ...(hasBody || endpoint.query || endpoint.parameters ? [400] : []),
    ...(endpoint.access === 'public' ? [403] : [401, 403, 429]),
    ...(hasBody ? [413, 415] : []),
    421,
    500,
    ...(endpoint.errors ?? []).filter((status) => status !== 429),
  ].toSorted((a, b) => a - b);
  return {
    [String(endpoint.status ?? 200)]: {
      description: kinds.map((kind) => kindDescriptions[kind]).join(' Or: '),
      headers: headers(names),
      ...(Object.keys(content).length === 0 ? {} : { content }),
    },
    ...(canBeEmpty && { '204': { description: kindDescriptions.empty, headers: headers(names) } }),
    ...Object.fromEntries(
      errors.map((status) => [
        String(status),
        endpoint.passes ? passedErrorOf(status, endpoint.passes) : components.error(status),
      ]),
    ),
  };
}

/** An error in the format of another API. */
function passedErrorOf(status: number, format: NonNullable<Endpoint['passes']>): Json {
  const name = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Google' }[format];
  return {
    description: `${errorDescriptions[status] ?? 'The request failed'}. In the format of ${name}'s API, with Touchstone's message; the provider's own errors pass unchanged`,
    content: {
      'application/json': {
        schema: { type: 'object', required: ['error'], properties: { error: { type: 'object' } } },
      },
    },
  };
}

/** The fields and the file as one object, because a form may have nothing else. */
function formSchema(form: Form, components: Components): Json {
  const megabytes = form.maximumFileBytes / 1_048_576;
  const file = { type: 'string', format: 'binary', description: `One file of at most ${megabytes} MB` };
  const fields = components.schema(form.fields, 'input') as { properties: Json; required?: string[] };
  return { ...fields, properties: { ...fields.properties, file }, required: [...(fields.required ?? []), 'file'] };
}

function requestBody({ body, form, mediaTypes, isBodyOptional }: Endpoint, components: Components): Json | null {
  if (form) {
    return { required: true, content: { 'multipart/form-data': { schema: formSchema(form, components) } } };
  }
  if (!body) return null;
  const content = { schema: components.schema(body, 'input') };
  return {
    required: !isBodyOptional,
    content: Object.fromEntries((mediaTypes ?? ['application/json']).map((mediaType) => [mediaType, content])),
  };
}

function accessSentence({ access }: Endpoint): string {
  if (access === 'public') return 'Needs no API key.';
  if (access === 'any scope') return 'Needs an API key with any scope.';
  return `Needs an API key with the scope ${access === 'run or audit' ? '`run` or `audit`' : `\`${access}\``}.`;
}

function operation(endpoint: Endpoint, components: Components): Json {
  const all = parameters(endpoint, components);
  const body = requestBody(endpoint, components);
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    ...(endpoint.description === undefined
      ? {}
      : { description: `${endpoint.description} ${accessSentence(endpoint)}` }),
    tags: [endpoint.tag],
    security: endpoint.access === 'public' ? [] : [{ bearer: [] }, { apiKey: [] }],
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body ? { requestBody: body } : {}),
    responses: responses(endpoint, components),
  };
}

/** Sorts the same in every system language. Some languages sort English letters differently. */
const byName = ([one]: readonly [string, ...unknown[]], [other]: readonly [string, ...unknown[]]): number =>
  one < other ? -1 : 1;

/**
 * Describes the endpoints for API keys as an OpenAPI 3.1 document. It leaves out endpoints of the window, which no key may call.
 */
export function createOpenApiDocument(endpoints: readonly Endpoint[], { version }: { version: string }): Json {
  const open = endpoints.filter(({ access }) => access !== 'window');
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const endpoint of open) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint, components) };
  }
  const usedHeaders = Object.keys(headerDescriptions).filter((name) =>
    JSON.stringify([paths, ...components.responses.values()]).includes(`#/components/headers/${name}"`),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Touchstone',
      version,
      description:
        'Prompt completions in three transports, recorded for audit. Headers that a caller sends as `x-app-*` are stored with its runs.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The host that serves this document' }],
    tags: [...new Set(open.map(({ tag }) => tag))].map((name) => ({
      name,
      description: tagDescriptions[name] ?? name,
    })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key as a bearer token' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-hl-api-key',
          description: 'An API key in its own header',
        },
      },
      headers: Object.fromEntries(usedHeaders.map((name) => [name, headerDescriptions[name]])),
      responses: Object.fromEntries([...components.responses].toSorted(byName)),
      schemas: Object.fromEntries([...components.schemas].toSorted(byName)),
    },
  };
}

/** Serves `/openapi.json`. It needs no key, so all responses share one text: callers that don't read it can't use up the memory. */
export function openApiHandlers(version: string): Handler[] {
  let shared: SharedJson | null = null;
  return [
    implement(readOpenApi, () => {
      shared ??= new SharedJson(createOpenApiDocument(contract, { version }));
      return new JsonResponse(shared);
    }),
  ];
}
