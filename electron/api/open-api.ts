import type { z } from 'zod';
import type { Endpoint, Form, ResponseKind } from '../../shared/contract/endpoint.ts';
import { endpoints as contract } from '../../shared/contract/index.ts';
import { readOpenApi } from '../../shared/contract/open-api.ts';
import { implement, type Handler } from './api.ts';
import { JsonResponse, SharedJson } from './json-response.ts';
import { Components, headerDescriptions, headers, keyHeaders, runHeaders, type Json } from './open-api-components.ts';

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

function responses(endpoint: Endpoint, components: Components): Json {
  const kinds = endpoint.kinds ?? ['json'];
  const names = isRun(endpoint) ? runHeaders : endpoint.access === 'public' ? ['x-request-id'] : keyHeaders;
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
    ...Object.fromEntries(errors.map((status) => [String(status), components.error(status)])),
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

const tagDescriptions: Readonly<Record<string, string>> = {
  Completions: 'Run a prompt on any model. Every run is recorded.',
  Audit: 'Search the runs of all callers and rate them.',
  Moderation: 'Score a text in five categories, with the passages that caused the scores.',
  Conversations: 'Runs that belong together, in the order they were made.',
  Prompts: 'Stored prompts with their versions. A version never changes.',
  Tools: 'Functions that prompts and agents offer to a model. Touchstone never executes one.',
  Dataspaces: 'Collections of sources for search and grounding.',
  Sources: 'Files that are parsed, chunked and indexed on the device.',
  Files: 'Images, PDFs, text and audio that prompts send.',
  Datasets: 'Rows of values that fill the variables of prompts. A version never changes.',
  Agents: 'Models with a system message that remember their conversations.',
  Credits: 'What an API key may use and has used.',
  Description: 'The service about itself.',
};

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
          description: 'An API key in a header of its own',
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
