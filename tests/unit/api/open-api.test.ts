import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createOpenApiDocument } from '../../../electron/api/open-api.ts';
import { defineEndpoint } from '../../../shared/contract/endpoint.ts';
import { endpoints } from '../../../shared/contract/index.ts';

const linter = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');
const document = createOpenApiDocument(endpoints, { version: '1.2.3' });

async function lint(text: string): Promise<{ severity: string; ruleId: string; message: string }[]> {
  const directory = await mkdtemp(join(tmpdir(), 'touchstone-openapi-'));
  try {
    await writeFile(join(directory, 'openapi.json'), text);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [linter, 'lint', 'openapi.json', '--extends', 'recommended', '--format', 'json'],
      {
        cwd: directory,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
      },
    ).catch((error: { stdout: string }) => error);
    const { problems } = JSON.parse(stdout) as { problems: { severity: string; ruleId: string; message: string }[] };
    return problems.map(({ severity, ruleId, message }) => ({ severity, ruleId, message }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('the document passes the linter without an error or a warning', async () => {
  expect(await lint(JSON.stringify(document))).toEqual([]);
});

test('the linter detects an error in the document', async () => {
  const faulty = JSON.stringify(document).replaceAll('#/components/schemas/Usage"', '#/components/schemas/Nothing"');
  const problems = await lint(faulty);
  expect(problems.map(({ ruleId }) => ruleId)).toContain('no-unresolved-refs');
});

test('describes every public endpoint and every one for API keys, but none of the window', () => {
  const described = Object.entries(document['paths'] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const expected = endpoints.filter(({ access }) => access !== 'window').map(({ method, path }) => `${method} ${path}`);
  expect(described.toSorted()).toEqual(expected.toSorted());
  expect(described.some((one) => one.includes('/window/'))).toBe(false);
});

test.each(['schemas', 'responses'])('%s have the same order in every system language', (part) => {
  const names = Object.keys((document['components'] as Record<string, object>)[part]!);
  expect([names.length > 5, names]).toEqual([true, names.toSorted()]);
});

test('every group of endpoints has a description', () => {
  const tags = document['tags'] as { name: string; description: string }[];
  expect(tags.filter(({ name, description }) => description === name)).toEqual([]);
});

test('requests are closed to unknown fields, responses are not', () => {
  const { schemas } = document['components'] as { schemas: Record<string, { additionalProperties?: unknown }> };
  expect({
    request: schemas['CompletionRequest']?.additionalProperties,
    answer: schemas['CompletionAnswer'] && 'additionalProperties' in schemas['CompletionAnswer'],
  }).toEqual({ request: false, answer: false });
});

test('a schema that differs between input and output has two names, and so do schemas that contain it', () => {
  const inner = z.object({ size: z.int().default(1) }).meta({ id: 'Inner' });
  const outer = z.object({ inner }).meta({ id: 'Outer' });
  const both = defineEndpoint({
    ...{ id: 'both', method: 'post', path: '/both', access: 'run', tag: 'Test', summary: 'Both' },
    body: z.strictObject({ outer }),
    response: z.object({ outer }),
  });
  const { components } = createOpenApiDocument([both], { version: '1' }) as {
    components: { schemas: Record<string, object> };
  };
  expect(components.schemas).toMatchObject({
    Outer: { properties: { inner: { $ref: '#/components/schemas/Inner' } } },
    OuterOutput: { properties: { inner: { $ref: '#/components/schemas/InnerOutput' } } },
    InnerOutput: { required: ['size'] },
  });
  expect(components.schemas['Inner']).not.toHaveProperty('required');
});

test('a form is one closed object of its fields and its file', () => {
  const { content } = (document['paths'] as Record<string, Record<string, { requestBody: { content: object } }>>)[
    '/sources'
  ]!['post']!.requestBody;
  expect(content).toMatchObject({
    'multipart/form-data': {
      schema: {
        type: 'object',
        properties: { name: { type: 'string' }, dataspaceId: { format: 'uuid' }, file: { format: 'binary' } },
        required: ['name', 'file'],
        additionalProperties: false,
      },
    },
  });
});

test('a completion lists every possible status', () => {
  const { responses } = (document['paths'] as Record<string, { post: { responses: object } }>)['/api/completions']!
    .post;
  expect(Object.keys(responses).map(Number)).toEqual([
    200, 400, 401, 402, 403, 409, 413, 415, 421, 429, 500, 502, 503, 504,
  ]);
});

test('describes what other origins get without a key, and the headers of a failed run', () => {
  const { responses } = (document['paths'] as Record<string, { get: { responses: object } }>)['/openapi.json']!.get;
  expect(Object.keys(responses).map(Number)).toEqual([200, 403, 421, 500]);
  const failures = (document['components'] as { responses: Record<string, { headers: object }> }).responses;
  expect(Object.keys(failures['Error502']!.headers)).toContain('x-run-id');
  expect(Object.keys(failures['Error404']!.headers)).toEqual(['x-request-id']);
});

interface DescribedOperation {
  readonly tags?: readonly string[];
  operationId: string;
  summary: string;
  description?: string;
  responses: Record<string, { content?: Record<string, { schema: Record<string, unknown> }> }>;
}

const operations = Object.values(document['paths'] as Record<string, Record<string, DescribedOperation>>).flatMap(
  (methods) => Object.values(methods),
);

test('every operation has a description that adds to its summary', () => {
  const sentences = operations.filter(
    ({ summary, description }) => !description?.match(/^[A-Z].*[.] Needs /s) || description.startsWith(summary),
  );
  expect([operations.length > 30, sentences.map(({ operationId }) => operationId)]).toEqual([true, []]);
});

test('a validating proxy accepts a stream of events: its body is text, and an extension describes one event', () => {
  const streams = operations.flatMap(({ operationId, responses, tags = [] }) => {
    const content = responses['200']?.content?.['text/event-stream'];
    return content && !tags.includes('Recorded calls') ? [[operationId, content] as const] : [];
  });
  expect(streams.map(([id]) => id).toSorted()).toEqual(['createCompletion', 'createCompletionEvents', 'runAgent']);
  for (const [, content] of streams) {
    expect(content).toEqual({
      schema: { type: 'string' },
      'x-event-schema': {
        anyOf: [{ $ref: '#/components/schemas/CompletionChunk' }, { $ref: '#/components/schemas/Error' }],
      },
    });
  }
});

test('a response that can be empty has the status 204 beside the other', () => {
  const paths = document['paths'] as Record<string, { post: { responses: Record<string, { content?: object }> } }>;
  const { responses } = paths['/review-queues/{id}/reservations']!.post;
  expect([responses['200']!.content, responses['204']!.content]).toEqual([expect.any(Object), undefined]);
});
