import { open, stat } from 'node:fs/promises';
import { AppError } from '../../shared/app-error.ts';

export interface ResumableDownloadOptions {
  readonly address: string;
  /** Grows while bytes arrive. Existing bytes are not fetched again if the server can resume. */
  readonly path: string;
  /** After this many milliseconds without a byte the server counts as unreachable. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** `totalBytes` is null until the server sends it. */
  readonly onProgress: (receivedBytes: number, totalBytes: number | null) => void;
  /** Called if the server can't resume: existing bytes are fetched again. */
  readonly onRestart: () => void;
}

/** The server responded, but not with the file. */
export class HttpStatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The server answered ${status}`);
    this.name = 'HttpStatusError';
    this.status = status;
  }
}

/**
 * Downloads a file over HTTP to `path` and resumes an earlier attempt. Throws `HttpStatusError`, `provider_silent` after too long
 * without a byte, `provider_failed` for a failed connection, and the signal's reason.
 */
export async function downloadResumably(options: ResumableDownloadOptions): Promise<void> {
  const silence = createSilenceTimer(options.silenceMs);
  const signal = AbortSignal.any([options.signal, silence.signal]);
  try {
    await receive(options, signal, silence.restart);
  } catch (error) {
    options.signal.throwIfAborted();
    silence.signal.throwIfAborted();
    throw toDownloadError(error);
  } finally {
    silence.stop();
  }
}

async function receive(options: ResumableDownloadOptions, signal: AbortSignal, onByte: () => void): Promise<void> {
  const hereBytes = await sizeOf(options.path);
  const response = await request(options.address, hereBytes, signal);
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(response.headers.get('content-range') ?? '');
  const isWholeHere = response.status === 416 && Number(range?.[2]) === hereBytes;
  if (isWholeHere) return cancelBody(response);
  const isResumed = response.status === 206 && Number(range?.[1]) === hereBytes;
  if (hereBytes > 0 && !isResumed) options.onRestart();
  // Neither the whole file nor the rest of ours: the existing bytes belong to another file.
  const answer =
    response.status === 200 || isResumed ? response : await requestAgain(response, options.address, signal);
  const startBytes = isResumed ? hereBytes : 0;
  const length = answer.headers.get('content-length');
  const totalBytes = isResumed ? Number(range?.[2]) : length === null ? null : Number(length);
  const receivedBytes = await writeBody(answer, options, { startBytes, totalBytes, onByte });
  if (totalBytes !== null && receivedBytes !== totalBytes) throw new Error('The body is shorter than announced');
}

async function writeBody(
  response: Response,
  { path, onProgress }: ResumableDownloadOptions,
  state: { readonly startBytes: number; readonly totalBytes: number | null; readonly onByte: () => void },
): Promise<number> {
  let receivedBytes = state.startBytes;
  await using file = await open(path, receivedBytes === 0 ? 'w' : 'a');
  onProgress(receivedBytes, state.totalBytes);
  for await (const chunk of response.body ?? []) {
    state.onByte();
    await file.writeFile(chunk);
    receivedBytes += chunk.byteLength;
    onProgress(receivedBytes, state.totalBytes);
  }
  return receivedBytes;
}

async function request(address: string, fromByte: number, signal: AbortSignal): Promise<Response> {
  const response = await fetch(address, {
    signal,
    headers: {
      // If a tarball were unpacked in transit, it could not be resumed by its own offsets.
      'accept-encoding': 'identity',
      ...(fromByte > 0 ? { range: `bytes=${fromByte}-` } : {}),
    },
  });
  if (response.ok || (response.status === 416 && fromByte > 0)) return response;
  await cancelBody(response);
  throw new HttpStatusError(response.status);
}

async function requestAgain(unusable: Response, address: string, signal: AbortSignal): Promise<Response> {
  await cancelBody(unusable);
  return request(address, 0, signal);
}

async function cancelBody(response: Response): Promise<void> {
  await response.body?.cancel();
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

function createSilenceTimer(silenceMs: number) {
  const controller = new AbortController();
  const fire = () =>
    controller.abort(
      new AppError(
        'provider_silent',
        `The server sent nothing for ${silenceMs / 1000} s. Check the network and resume; the downloaded part is kept.`,
      ),
    );
  const timer = setTimeout(fire, silenceMs);
  return { signal: controller.signal, restart: () => void timer.refresh(), stop: () => clearTimeout(timer) };
}

function toDownloadError(error: unknown): unknown {
  if (error instanceof AppError || error instanceof HttpStatusError) return error;
  // Disk errors have a code of the operating system, which the caller checks.
  if (error instanceof Error && 'code' in error && 'syscall' in error) return error;
  return new AppError(
    'provider_failed',
    'Connection failed or lost. Check the network and resume; the downloaded part is kept.',
    { cause: error },
  );
}
