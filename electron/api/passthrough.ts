import { AppError } from '../../shared/app-error.ts';
import { recordLevel, type RecordLevel } from '../../shared/contract/common.ts';
import {
  maxPassedBodyBytes,
  passAnthropicModel,
  passAnthropicModels,
  passChat,
  passContent,
  passContentCount,
  passContentStream,
  passEmbeddings,
  passEndpointChat,
  passEndpointEmbeddings,
  passEndpointModel,
  passEndpointModels,
  passEndpointResponses,
  passGeminiModels,
  passMessages,
  passModel,
  passModels,
  passResponses,
  passTokenCount,
  readRecorder,
} from '../../shared/contract/passthrough.ts';
import { parseAddress } from '../common/parse-address.ts';
import type { ProgramCall } from '../passthrough/begin-run.ts';
import type { PassThrough, StartedCall } from '../passthrough/create-passthrough.ts';
import type { CallApi } from '../passthrough/read-request.ts';
import { namedKeyHeaders, queryKeys } from '../providers/forwarded-call.ts';
import { endpointId, type ProviderId } from '../providers/provider-addresses.ts';
import type { Providers } from '../providers/create-providers.ts';
import { type Handler, type HandlerInput, implement } from './api.ts';
import { ownModel, ownModels } from './own-models.ts';
import { PassedResponse } from './passed-response.ts';
import { originOf } from './run-response.ts';
import { clientOf, type TranslatedApi, translatedCall, type TranslatedCallOptions } from './translated-call.ts';

type Input = HandlerInput<unknown, unknown, unknown>;

/** Where a path leads. */
interface Route {
  readonly providerId: ProviderId;
  readonly api: CallApi | null;
  readonly path: string;
  /** The model and the version of the API that the path names. */
  readonly pathModel?: string;
  readonly apiVersion?: string;
}

/** Versions of Gemini's API. */
const geminiVersions = new Set(['v1', 'v1beta', 'v1alpha']);

/** The headers as the program wrote them, or as a `Request` keeps them. */
function rawHeadersOf(request: Request): readonly string[] {
  return 'rawHeaders' in request ? (request.rawHeaders as readonly string[]) : [...request.headers].flat();
}

/** Whether the usual place has the program's own provider key, beside the key of this service. */
function hasOwnKey({ headers }: Input, path: string): boolean {
  if (!headers.get('x-touchstone-key')) return false;
  const named = namedKeyHeaders.map((name) => headers.get(name));
  const keys = [...named, headers.get('authorization')?.replace(/^bearer +/i, ''), ...queryKeys(path)];
  return keys.some((key) => key != null && key.trim() !== '' && !key.trim().startsWith('ts_'));
}

/** The API in which a program can call a model that Touchstone runs. A compatible endpoint can have models of the same names. */
function translatedApi({ providerId, api }: Route): TranslatedApi | null {
  return providerId === 'OpenAi' && (api === 'openai-chat' || api === 'openai-responses') ? api : null;
}

/**
 * The path after the segments of a base address, as the program wrote it. Throws 404 if a provider that decodes `%2f`, once or more
 * often, could take it for another one, to which the stored key must not lead.
 */
function pathOf({ request }: Pick<Input, 'request'>, baseSegments: number): string {
  const path = `/${parseAddress(request.url)
    .pathname.split('/')
    .slice(baseSegments + 1)
    .join('/')}`;
  const segments = path
    .replaceAll(/%(?:25)+/g, '%')
    .replaceAll(/%2e/gi, '.')
    .split(/[/\\]|%2f|%5c/i);
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw new AppError('not_found', 'There is no model of this name.');
  return path;
}

/** Of the request's body; empty if it isn't compressed. */
function encodingOf({ headers }: Input): string {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  return encoding === 'identity' ? '' : encoding;
}

function levelOf(headers: Headers): RecordLevel {
  const header = headers.get('x-touchstone-record');
  if (header === null) return 'all';
  const level = recordLevel.safeParse(header.trim().toLowerCase());
  if (level.success) return level.data;
  throw new AppError('invalid_request', 'x-touchstone-record must be `all`, `metadata` or `none`.');
}

function addedHeaders({ recorded, runId, conversationId }: StartedCall): Record<string, string> {
  return {
    'x-touchstone-recorded': recorded,
    ...(runId !== null && { 'x-touchstone-run-id': runId }),
    ...(conversationId !== null && { 'x-touchstone-conversation-id': conversationId }),
  };
}

function toCall(
  input: Input,
  { providerId, api, path: route, pathModel, apiVersion }: Route,
  body: Buffer | null,
): ProgramCall {
  const { request, headers, caller, signal } = input;
  const method = request.method === 'GET' ? 'GET' : 'POST';
  const path = route + (/^[^?#]*(\?[^#]+)/.exec(request.url)?.[1] ?? '');
  return {
    providerId,
    api,
    pathModel: pathModel ?? null,
    apiVersion: apiVersion ?? null,
    path,
    method,
    headers: rawHeadersOf(request),
    body,
    encoding: encodingOf(input),
    hasOwnKey: hasOwnKey(input, path),
    caller,
    program: {
      appHeaders: originOf({ caller, headers }).appHeaders,
      client: clientOf(headers),
    },
    level: levelOf(headers),
    isRetry: Number(headers.get('x-stainless-retry-count')) > 0,
    signal,
  };
}

export interface PassThroughHandlerOptions extends Omit<TranslatedCallOptions, 'passThrough'> {
  readonly passThrough: PassThrough;
  readonly providers: Pick<Providers, 'callFailure' | 'findEndpoint'>;
}

function endpointNamed(name: string, providers: Pick<Providers, 'findEndpoint'>): ProviderId {
  const endpoint = providers.findEndpoint(name);
  if (endpoint) return endpointId(endpoint.name);
  throw new AppError(
    'not_found',
    `There is no compatible endpoint "${name.slice(0, 100)}". Add it in Settings, Compatible endpoints.`,
  );
}

function createPass({ passThrough, providers, ...options }: PassThroughHandlerOptions) {
  return async function pass(input: Input, route: Route): Promise<Response> {
    const body = input.request.method === 'GET' ? null : await input.readBytes(maxPassedBodyBytes);
    const api = translatedApi(route);
    const own = body && api ? await passThrough.ownCall({ body, encoding: encodingOf(input) }) : null;
    if (api && own) {
      const call = { ...own, level: levelOf(input.headers) };
      return translatedCall(api, call, input, { ...options, passThrough });
    }
    const started = await passThrough.start(toCall(input, route, body));
    const added = addedHeaders(started);
    // A call that fails here or is blocked has a record, too.
    const recorded = (error: unknown) => (error instanceof AppError ? error.withHeaders(added) : error);
    const head = await started.call.head.catch((error: unknown) => {
      throw recorded(providers.callFailure(route.providerId, error, input.signal));
    });
    await started.verdict?.catch((error: unknown) => {
      started.call.cancel();
      throw recorded(error);
    });
    return new PassedResponse(started.call, head, added);
  };
}

/** The APIs of providers, for other programs. */
export function passThroughHandlers(options: PassThroughHandlerOptions): Handler[] {
  const { passThrough, providers } = options;
  const pass = createPass(options);
  const openAi = (api: CallApi | null, path: string) => (input: Input) =>
    pass(input, { providerId: 'OpenAi', api, path });
  const anthropic = (api: CallApi | null, path: string) => (input: Input) =>
    pass(input, { providerId: 'Anthropic', api, path });
  const models = async (input: Input, path: string): Promise<Response> => {
    try {
      return await openAi(null, path)(input);
    } catch (error) {
      const isWithoutKey = error instanceof AppError && error.code === 'provider_not_configured';
      if (!isWithoutKey || hasOwnKey(input, path)) throw error;
      return Response.json(await ownModels(input.caller, options.storage));
    }
  };
  const gemini =
    (api: CallApi | null) =>
    (input: HandlerInput<{ version: string; model?: string }, unknown, unknown>): Promise<Response> => {
      const { version, model } = input.parameters;
      if (!geminiVersions.has(version)) throw new AppError('not_found', `Gemini's API has no version "${version}".`);
      const path = pathOf(input, 2);
      return pass(input, {
        providerId: 'GoogleGemini',
        api,
        path,
        apiVersion: version,
        ...(model && { pathModel: model }),
      });
    };
  const endpoint =
    (api: CallApi | null, path: string) =>
    (input: HandlerInput<{ name: string }, unknown, unknown>): Promise<Response> =>
      pass(input, { providerId: endpointNamed(input.parameters.name, providers), api, path });

  return [
    implement(passChat, openAi('openai-chat', '/chat/completions')),
    implement(passResponses, openAi('openai-responses', '/responses')),
    implement(passEmbeddings, openAi('openai-embeddings', '/embeddings')),
    implement(passModels, (input) => models(input, '/models')),
    implement(passModel, async (input) => {
      const own = await ownModel(input.parameters.model, input.caller, options.storage);
      return own ? Response.json(own) : openAi(null, pathOf(input, 2))(input);
    }),
    implement(passEndpointChat, endpoint('openai-chat', '/chat/completions')),
    implement(passEndpointResponses, endpoint('openai-responses', '/responses')),
    implement(passEndpointEmbeddings, endpoint('openai-embeddings', '/embeddings')),
    implement(passEndpointModels, endpoint(null, '/models')),
    implement(passEndpointModel, (input) => endpoint(null, pathOf(input, 3))(input)),
    implement(passMessages, anthropic('anthropic-messages', '/messages')),
    implement(passContent, gemini('gemini-content')),
    implement(passContentStream, gemini('gemini-content')),
    implement(passContentCount, gemini(null)),
    implement(passGeminiModels, gemini(null)),
    implement(readRecorder, () => passThrough.counts()),
    implement(passAnthropicModels, anthropic(null, '/models')),
    implement(passAnthropicModel, (input) => anthropic(null, pathOf(input, 2))(input)),
    implement(passTokenCount, anthropic(null, '/messages/count_tokens')),
  ];
}
