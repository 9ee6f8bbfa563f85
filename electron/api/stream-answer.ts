import { encodeEvent } from '../../shared/event-stream.ts';
import type { ResponseKind } from '../../shared/contract/endpoint.ts';
import type { Log } from '../log.ts';
import { toAppError } from './error-response.ts';

export type StreamKind = Extract<ResponseKind, 'event-stream' | 'json-array'>;

const contentTypes: Record<StreamKind, string> = {
  'event-stream': 'text/event-stream',
  'json-array': 'application/json',
};

/** How the parts of an answer are written one after the other. */
interface Encoding {
  part(value: unknown, isFirst: boolean): string;
  end(isFirst: boolean): string;
}

const encodings: Record<StreamKind, Encoding> = {
  'event-stream': { part: (value) => encodeEvent(value), end: () => '' },
  'json-array': {
    part: (value, isFirst) => (isFirst ? '[' : ',\n') + JSON.stringify(value),
    end: (isFirst) => (isFirst ? '[]' : ']'),
  },
};

export interface StreamAnswerOptions {
  readonly kind: StreamKind;
  readonly headers: Record<string, string>;
  readonly requestId: string;
  /** Aborted when the caller goes away; the source is ended even if nobody cancels the body. */
  readonly signal: AbortSignal;
  /** Ends what the source waits for, so that it need not yield once more before it can end. */
  readonly stop: () => void;
  readonly reportFailure: Log;
}

/**
 * Streams the parts as the caller reads them: a reader that stops reading stops the source, one that goes away ends it. A failure
 * becomes one last part in the error form, and the text stays valid to its end.
 */
export function streamAnswer(parts: AsyncGenerator<unknown, void, void>, options: StreamAnswerOptions): Response {
  const { requestId, reportFailure } = options;
  const encoding = encodings[options.kind];
  const encoder = new TextEncoder();
  let isFirst = true;
  const end = () => {
    options.stop();
    // What went wrong while ending was recorded with the run; nobody is left to be told.
    return parts.return().catch(() => undefined);
  };
  options.signal.addEventListener('abort', end, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let text: string;
        let isDone = false;
        try {
          const next = await parts.next();
          isDone = next.done === true;
          text = isDone ? encoding.end(isFirst) : encoding.part(next.value, isFirst);
        } catch (error) {
          isDone = true;
          text = encoding.part(toAppError(error, requestId, reportFailure).toBody(requestId), isFirst) + encoding.end(false);
        }
        isFirst = false;
        if (text !== '') controller.enqueue(encoder.encode(text));
        if (isDone) controller.close();
      },
      cancel: async () => {
        await end();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { ...options.headers, 'content-type': contentTypes[options.kind], 'cache-control': 'no-store' },
  });
}
