import { withoutSecrets } from '../known-secrets.ts';

/** Where the host's own messages go: for the person who runs it, never an answer to a caller. */
export type Log = (message: string, failure?: unknown) => void;

/** Shapes of keys: ours, the providers', anything behind an authentication scheme or in a query string. */
const secrets =
  /\b(?:ts_|sk-|gsk_|AIza)[\w-]{8,}|\b(?:Bearer|Basic)\s+[\w.~+/=-]+|([?&](?:key|token|api_key|access_token)=)[^&\s"']+/gi;

/** A message with every key in it replaced: those that this process knows, and what looks like one. */
export function redactLog(message: string): string {
  return withoutSecrets(message).replace(
    secrets,
    (_match, parameter: string | undefined) => `${parameter ?? ''}[secret]`,
  );
}

/** An unexpected failure as text with its stack, without keys. */
export function describeFailure(failure: unknown): string {
  const text = failure instanceof Error ? (failure.stack ?? `${failure.name}: ${failure.message}`) : String(failure);
  return redactLog(text);
}
