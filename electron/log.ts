/**
 * Receives messages for the person who runs the host, and failures that no caller sees. Neither the message nor the error may
 * contain a key, a prompt or an answer.
 */
export type Log = (message: string, error?: unknown) => void;

/**
 * The keys that this process has read or received, so that its log can remove them in every form. One list for the process, because
 * there is one log. Only `withoutSecrets` reads it.
 */
const knownSecrets = new Set<string>();

/** A shorter one would remove ordinary words from every message. */
const minSecretLength = 4;

/** Adds a key in each form in which a URL or JSON may repeat it. */
export function addKnownSecret(secret: string): void {
  if (secret.length < minSecretLength) return;
  const base64 = Buffer.from(secret).toString('base64');
  for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64]) {
    knownSecrets.add(form);
  }
}

/** Replaces every known key in a text by `[secret]`. */
export function withoutSecrets(text: string): string {
  // The longest first: one key may be the start of another.
  const secrets = [...knownSecrets]
    .filter((secret) => text.includes(secret))
    .sort((one, other) => other.length - one.length);
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}

/** The format of keys: ours, the providers', and anything after an authentication scheme or in a query string. */
const secretPattern =
  /\b(?:ts_|sk-|gsk_|AIza)[\w-]{8,}|\b(?:Bearer|Basic)\s+[\w.~+/=-]+|([?&](?:key|token|api_key|access_token)=)[^&\s"']+/gi;

/** A message without keys, neither known ones nor texts that look like one. */
export function redactLog(message: string): string {
  return withoutSecrets(message).replace(
    secretPattern,
    (_match, parameter: string | undefined) => `${parameter ?? ''}[secret]`,
  );
}

/** An unexpected failure as text with its stack, without keys. */
export function describeFailure(failure: unknown): string {
  const text = failure instanceof Error ? (failure.stack ?? `${failure.name}: ${failure.message}`) : String(failure);
  return redactLog(text);
}
