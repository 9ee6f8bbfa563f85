import type { CallerRequest } from './http-clients.ts';
import type { TestAnswer, TestHost, Way } from './test-host.ts';

/** What was parsed: tests look into it as they need. */
type Json = ReturnType<typeof JSON.parse>;

export interface JsonCall {
  /** By default the host's own key. */
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface JsonResponse extends TestAnswer {
  /** Null for an empty answer, and for one that is not JSON. */
  readonly body: Json;
}

export function jsonRequest(host: TestHost, method: string, path: string, call: JsonCall = {}): CallerRequest {
  const { key = host.key, body, headers } = call;
  return {
    method,
    path,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

/** One call with a key and a JSON body. */
export async function callJson(
  host: TestHost,
  way: Way,
  method: string,
  path: string,
  call: JsonCall = {},
): Promise<JsonResponse> {
  const answer = await host.send(way, jsonRequest(host, method, path, call));
  const isJson = String(answer.headers['content-type'] ?? '').startsWith('application/json');
  return { ...answer, body: isJson ? JSON.parse(answer.text) : null };
}

/** The field and issue of every detail of a refusal, after its status and code. */
export function rejectionOf({ status, body }: JsonResponse): unknown {
  return [status, body?.error?.code, body?.error?.details];
}

/** Every item of a list, page by page. */
export async function walk(host: TestHost, way: Way, path: string, pageSize: number): Promise<Json[]> {
  const items: Json[] = [];
  let token: string | null = null;
  do {
    const suffix = token === null ? '' : `&continuationToken=${encodeURIComponent(token)}`;
    const { body } = await callJson(host, way, 'GET', `${path}?pageSize=${pageSize}${suffix}`);
    items.push(...body.data);
    token = body.continuationToken;
  } while (token !== null);
  return items;
}
