import { AppError } from '../../shared/app-error.ts';
import { decompressed } from './decompressed.ts';
import { type Fields, parseObject, textOf } from './fields.ts';

/** The names of models that Touchstone runs itself begin with one of these. */
const ownModelKinds = ['service', 'on-device', 'prompt', 'agent'] as const;
export type OwnModelKind = (typeof ownModelKinds)[number];

/** Whether Touchstone runs the model itself; null for a model of the provider. */
export function ownModelKind(model: string): OwnModelKind | null {
  return ownModelKinds.find((kind) => model.startsWith(`${kind}/`)) ?? null;
}

/** A program's call of one of Touchstone's models. */
export interface OwnCall {
  readonly body: Fields;
  readonly model: string;
}

export interface OwnCallInput {
  readonly body: Uint8Array;
  /** Of its `content-encoding`; empty if it isn't compressed. */
  readonly encoding: string;
}

/** Bytes of such a call: as many as a completion may have. */
export const maxOwnCallBytes = 4 * 1_048_576;

/** How the name of such a model can begin in JSON. */
const beginnings = ownModelKinds.flatMap((kind) => ['/', '\\/'].map((slash) => Buffer.from(`"${kind}${slash}`)));

/** Where a body names such a model that can't be read as a whole. */
const namedModel = /"model"\s*:\s*"(?:service|on-device|prompt|agent)\\?\//;

/** Most bodies name none, and parsing a long one takes time. */
function hasBeginning(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return beginnings.some((beginning) => bytes.includes(beginning));
}

/** Whether a body has to be read to know if it names one of Touchstone's models. */
export function mayBeOwnCall({ body, encoding }: OwnCallInput): boolean {
  return encoding !== '' || hasBeginning(body);
}

/** Null for a body that can't be decompressed: its provider rejects it. */
function plainBody({ body, encoding }: OwnCallInput): Uint8Array | null {
  try {
    return decompressed(body, encoding);
  } catch {
    return null;
  }
}

/**
 * The call, if its body names a model that Touchstone runs itself; null for a provider's own model. A call that may be meant for the
 * device must not reach a provider, so it throws `AppError`: 413 for one of more than 4 MB, 400 for one that is no JSON object.
 */
export function readOwnCall(input: OwnCallInput): OwnCall | null {
  const bytes = plainBody(input);
  if (bytes === null || !hasBeginning(bytes)) return null;
  const text = new TextDecoder().decode(bytes);
  const body = parseObject(text);
  const model = body && textOf(body['model']);
  const isOwn = model === null ? namedModel.test(text) : ownModelKind(model) !== null;
  if (!isOwn) return null;
  if (bytes.length > maxOwnCallBytes)
    throw new AppError(
      'payload_too_large',
      'A call of a model that Touchstone runs can have 4 MB. Send less in one request.',
    );
  if (body === null || model === null) throw new AppError('invalid_request', 'The request body is not a JSON object.');
  return { body, model };
}
