/** Entry point of the thread that reads long calls; started by `reading-threads.ts`. */
import { serveCalls } from '../common/worker-server.ts';
import { readCheckedRequest } from './check-prompt.ts';
import { readOwnCall } from './own-call.ts';
import { readPassedRequest } from './read-call.ts';
import { type RecordedResponse, readPassedResponse, type ResponseForm, StreamedResponse } from './recorded-response.ts';
import { redactOutcome, redactSentTexts } from './redact-run.ts';
import type { BodyPart } from './response-body.ts';

/** A part of a stream. */
export interface StreamPart extends BodyPart {
  readonly stream: number;
}

const streams = new Map<number, StreamedResponse>();

/** Throws for a stream whose start was in a thread that has ended. */
function addTo({ stream, bytes, arrivals }: StreamPart): StreamedResponse {
  const response = streams.get(stream);
  if (!response) throw new Error('The start of the response is lost.');
  response.add(bytes, arrivals);
  return response;
}

const methods = {
  readCheckedRequest,
  readOwnCall,
  readPassedRequest,
  readPassedResponse,
  redactOutcome,
  redactSentTexts,
  openStream({ stream, form }: { readonly stream: number; readonly form: ResponseForm }): void {
    streams.set(stream, new StreamedResponse(form));
  },
  addToStream(part: StreamPart): void {
    addTo(part);
  },
  endStream({ isCut, ...part }: StreamPart & { readonly isCut: boolean }): RecordedResponse {
    try {
      return addTo(part).end(isCut);
    } finally {
      streams.delete(part.stream);
    }
  },
};

export type CallMethods = typeof methods;

serveCalls(methods);
