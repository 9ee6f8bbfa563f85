/**
 * Reads answers as `api-specification.md` and the decisions beside it describe them, and refuses everything else. Written
 * from these two texts alone: it shares no code with the service, so that it cannot share a misunderstanding.
 */

export class SpecificationViolation extends Error {
  constructor(where: string, rule: string, seen?: unknown) {
    super(`${where}: ${rule}${seen === undefined ? '' : `, but got ${JSON.stringify(seen)?.slice(0, 300)}`}`);
    this.name = 'SpecificationViolation';
  }
}

export interface JudgedAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface JudgedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** What an answer says, whichever way it came. */
export interface JudgedRun {
  readonly content: string;
  /** The text fragments of a stream; one for a whole answer. */
  readonly fragments: readonly string[];
  readonly finishReason: string | null;
  readonly messageId: string;
  readonly runId: string;
  readonly usage: JudgedUsage | null;
  readonly warnings: readonly JudgedWarning[];
  /** The error that a stream ended with. */
  readonly error: JudgedError | null;
}

export interface JudgedWarning {
  readonly code: string;
  readonly parameter?: string;
  readonly variable?: string;
}

export interface JudgedError {
  readonly code: string;
  readonly message: string;
  readonly details: readonly { field: string; issue: string; line?: number; column?: number }[];
  readonly requestId: string;
}

type Json = Record<string, unknown>;

function demand(isMet: boolean, where: string, rule: string, seen?: unknown): asserts isMet {
  if (!isMet) throw new SpecificationViolation(where, rule, seen);
}

function object(value: unknown, where: string, required: readonly string[], optional: readonly string[] = []): Json {
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), where, 'must be an object', value);
  const keys = Object.keys(value);
  for (const key of required) demand(keys.includes(key), where, `must have ${key}`, value);
  for (const key of keys)
    demand(required.includes(key) || optional.includes(key), where, `must not have ${key}`, value);
  return value as Json;
}

function text(value: unknown, where: string): string {
  demand(typeof value === 'string', where, 'must be a string', value);
  return value;
}

function count(value: unknown, where: string): number {
  demand(Number.isInteger(value) && (value as number) >= 0, where, 'must be a whole number', value);
  return value as number;
}

export function judgeUuid(value: unknown, where: string): string {
  const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
  demand(typeof value === 'string' && pattern.test(value), where, 'must be a uuid', value);
  return value;
}

function finishReason(value: unknown, where: string): string {
  const known = ['Stop', 'Length', 'ContentFilter', 'ToolCalls'];
  demand(typeof value === 'string' && known.includes(value), where, `must be one of ${known.join(', ')}`, value);
  return value;
}

const detailNames = ['cached_tokens', 'cache_write_tokens', 'reasoning_tokens'];

function usage(value: unknown, where: string): JudgedUsage {
  const names = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
  const counts = object(value, where, names, ['details']);
  for (const name of names) count(counts[name], `${where}.${name}`);
  if ('details' in counts) {
    const details = object(counts['details'], `${where}.details`, detailNames);
    for (const name of detailNames) if (details[name] !== null) count(details[name], `${where}.details.${name}`);
    demand(
      detailNames.some((name) => details[name] !== null),
      `${where}.details`,
      'must be absent if nothing is reported',
      details,
    );
  }
  return counts as unknown as JudgedUsage;
}

function warnings(value: unknown, where: string): JudgedWarning[] {
  demand(Array.isArray(value) && value.length > 0, where, 'must be a list with something in it', value);
  return value.map((one: unknown, index) => {
    const warning = object(one, `${where}[${index}]`, ['code', 'message'], ['parameter', 'variable']);
    const codes = ['parameter-dropped', 'variable-unfilled', 'model-ending', 'answer-not-continued'];
    demand(codes.includes(text(warning['code'], where)), where, `code must be one of ${codes.join(', ')}`, warning);
    text(warning['message'], `${where}[${index}].message`);
    demand(
      warning['code'] !== 'parameter-dropped' || 'parameter' in warning,
      where,
      'must name the parameter',
      warning,
    );
    demand(warning['code'] !== 'variable-unfilled' || 'variable' in warning, where, 'must name the variable', warning);
    return warning as unknown as JudgedWarning;
  });
}

function json(source: string, where: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new SpecificationViolation(where, 'must be JSON', source);
  }
}

function header({ headers }: JudgedAnswer, name: string): string | undefined {
  const value = headers[name];
  demand(value === undefined || typeof value === 'string', 'headers', `${name} must stand once`, value);
  return value;
}

function mediaType(answer: JudgedAnswer, expected: string): void {
  const essence = header(answer, 'content-type')?.split(';')[0]?.trim();
  demand(essence === expected, 'headers', `content-type must be ${expected}`, essence);
}

/** Headers of every answer; those of a run when it was one. */
function judgeHeaders(answer: JudgedAnswer, isRun: boolean): void {
  judgeUuid(header(answer, 'x-request-id'), 'x-request-id');
  if (!isRun) return;
  demand(/^\d+$/.test(header(answer, 'x-credits-consumed') ?? ''), 'headers', 'x-credits-consumed must be a number');
  demand(/^[^/]+\/.+$/.test(header(answer, 'x-served-by') ?? ''), 'headers', 'x-served-by must be <aiSystem>/<model>');
}

function judgeErrorForm(value: unknown, where: string): JudgedError {
  const { error } = object(value, where, ['error']);
  const { code, message, details, requestId } = object(error, `${where}.error`, [
    'code',
    'message',
    'details',
    'requestId',
  ]);
  demand(/^[a-z_]+$/.test(text(code, `${where}.code`)), where, 'code must be a stable word', code);
  demand(text(message, `${where}.message`).length > 0, where, 'message must say something');
  demand(
    !/(\bat .*\.(ts|js):\d+|\/home\/|\/root\/|\/tmp\/|node_modules|\bts_[\w-]{20,})/.test(message as string),
    where,
    'message must hold no stack, path or key',
    message,
  );
  judgeUuid(requestId, `${where}.requestId`);
  demand(Array.isArray(details), where, 'details must be a list', details);
  details.forEach((one: unknown, index) => {
    const detail = object(one, `${where}.details[${index}]`, ['field', 'issue'], ['line', 'column']);
    text(detail['field'], `${where}.details[${index}].field`);
    text(detail['issue'], `${where}.details[${index}].issue`);
  });
  return { code, message, details, requestId } as JudgedError;
}

/** An error answer with this status. */
export function judgeError(answer: JudgedAnswer, status: number): JudgedError {
  demand(answer.status === status, 'answer', `status must be ${status}`, [answer.status, answer.text]);
  mediaType(answer, 'application/json');
  judgeHeaders(answer, false);
  const error = judgeErrorForm(json(answer.text, 'body'), 'body');
  demand(error.requestId === header(answer, 'x-request-id'), 'body', 'requestId must be that of the header', error);
  return error;
}

/** The body of a whole answer (2.3). */
export function judgeSync(answer: JudgedAnswer): JudgedRun {
  demand(answer.status === 200, 'answer', 'status must be 200', [answer.status, answer.text]);
  mediaType(answer, 'application/json');
  judgeHeaders(answer, true);
  const body = object(
    json(answer.text, 'body'),
    'body',
    ['choices', 'messageId', 'runId', 'usage'],
    ['citations', 'warnings'],
  );
  demand(
    Array.isArray(body['choices']) && body['choices'].length === 1,
    'choices',
    'must hold one choice',
    body['choices'],
  );
  const choice = object(body['choices'][0], 'choices[0]', ['finish_reason', 'index', 'message']);
  demand(choice['index'] === 0, 'choices[0].index', 'must be 0', choice['index']);
  const message = object(choice['message'], 'choices[0].message', ['role', 'content']);
  demand(message['role'] === 'Assistant', 'role', 'must be "Assistant"', message['role']);
  const content = text(message['content'], 'content');
  return {
    content,
    fragments: [content],
    finishReason: finishReason(choice['finish_reason'], 'finish_reason'),
    messageId: judgeUuid(body['messageId'], 'messageId'),
    runId: judgeUuid(body['runId'], 'runId'),
    usage: usage(body['usage'], 'usage'),
    warnings: body['warnings'] === undefined ? [] : warnings(body['warnings'], 'warnings'),
    error: null,
  };
}

/** The chunks of a stream, in order (2.4). */
function judgeChunks(values: readonly unknown[]): JudgedRun {
  demand(values.length > 0, 'stream', 'must hold at least one chunk');
  const fragments: string[] = [];
  const ids = new Set<string>();
  let run: JudgedRun | null = null;
  values.forEach((value, index) => {
    const where = `chunk ${index}`;
    demand(run === null, where, 'must not follow the last chunk', value);
    if (typeof value === 'object' && value !== null && 'error' in value) {
      const error = judgeErrorForm(value, where);
      const [messageId = '', runId = ''] = [...ids][0]?.split(' ') ?? [];
      run = {
        content: fragments.join(''),
        fragments,
        finishReason: null,
        messageId,
        runId,
        usage: null,
        warnings: [],
        error,
      };
      return;
    }
    const isLast = typeof value === 'object' && value !== null && 'usage' in value;
    const chunk = object(
      value,
      where,
      ['choice', 'messageId', 'runId', ...(isLast ? ['usage'] : [])],
      isLast ? ['citations', 'warnings'] : [],
    );
    const choice = object(chunk['choice'], `${where}.choice`, [
      'index',
      'message',
      ...(isLast ? ['finish_reason'] : []),
    ]);
    demand(choice['index'] === 0, `${where}.choice.index`, 'must be 0', choice['index']);
    const message = object(choice['message'], `${where}.choice.message`, ['role', ...(isLast ? [] : ['content'])]);
    demand(message['role'] === 'assistant', `${where}.role`, 'must be "assistant"', message['role']);
    const [messageId, runId] = [judgeUuid(chunk['messageId'], where), judgeUuid(chunk['runId'], where)];
    ids.add(`${messageId} ${runId}`);
    demand(ids.size === 1, where, 'must carry the ids of the chunks before', chunk);
    if (!isLast) fragments.push(text(message['content'], `${where}.content`));
    else {
      run = {
        content: fragments.join(''),
        fragments,
        finishReason: finishReason(choice['finish_reason'], where),
        messageId,
        runId,
        usage: usage(chunk['usage'], `${where}.usage`),
        warnings: chunk['warnings'] === undefined ? [] : warnings(chunk['warnings'], where),
        error: null,
      };
    }
  });
  demand(run !== null, 'stream', 'must end with a last chunk or an error', values.at(-1));
  return run;
}

/** Server-sent events: nothing but `data:` lines, each followed by an empty line. */
export function judgeEvents(answer: JudgedAnswer): JudgedRun {
  demand(answer.status === 200, 'answer', 'status must be 200', [answer.status, answer.text]);
  mediaType(answer, 'text/event-stream');
  judgeHeaders(answer, true);
  demand(answer.text.endsWith('\n\n'), 'stream', 'must end with an empty line', answer.text.slice(-40));
  const events = answer.text.slice(0, -2).split('\n\n');
  return judgeChunks(
    events.map((event, index) => {
      demand(/^data: [^\n\r]+$/.test(event), `event ${index}`, 'must be one line `data: <JSON>`', event);
      return json(event.slice('data: '.length), `event ${index}`);
    }),
  );
}

/** The stream as a JSON array. */
export function judgeArray(answer: JudgedAnswer): JudgedRun {
  demand(answer.status === 200, 'answer', 'status must be 200', [answer.status, answer.text]);
  mediaType(answer, 'application/json');
  judgeHeaders(answer, true);
  const body = json(answer.text, 'body');
  demand(Array.isArray(body), 'body', 'must be an array', body);
  return judgeChunks(body);
}
