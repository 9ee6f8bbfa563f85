import { AppError, errorFromBody } from '../../shared/app-error.ts';
import { createArrayDecoder, createEventDecoder } from '../../shared/event-stream.ts';
import type { DecodedPart } from '../../shared/event-stream.ts';
import type { WireObserver } from './client.ts';

function brokenOff(cause?: unknown): AppError {
  return new AppError('internal', 'Connection lost. Partial answer kept.', { cause });
}

function hasError(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'error' in value && !('choice' in value);
}

/**
 * The parts of a streamed answer, in the form that its media type names. Throws `AppError` for a last `{error}` part and for
 * a stream that ends in the middle. Leaving the loop cancels the body, and with it the work at the host.
 */
export async function* readParts(response: Response, wire: WireObserver | undefined): AsyncGenerator<unknown> {
  if (!response.body) throw brokenOff();
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const decoder = isEvents ? createEventDecoder() : createArrayDecoder();
  const text = new TextDecoder();
  const encoder = new TextEncoder();

  function decode(bytes: Uint8Array | undefined): DecodedPart[] {
    try {
      return decoder.push(text.decode(bytes, { stream: bytes !== undefined }));
    } catch (error) {
      throw brokenOff(error);
    }
  }

  function* take(parts: readonly DecodedPart[]): Generator<unknown> {
    const at = performance.now();
    for (const part of parts) {
      wire?.onFrame?.({ text: part.text, bytes: encoder.encode(part.text).byteLength, at });
    }
    for (const { value } of parts) {
      if (hasError(value)) throw errorFromBody(value, 'The run failed.');
      yield value;
    }
  }

  for await (const bytes of response.body) yield* take(decode(bytes));
  yield* take(decode(undefined));
  if (!decoder.isComplete()) throw brokenOff();
}
