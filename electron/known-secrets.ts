/**
 * The keys that this process has read or been given, so that its log can leave them out whatever they look like. One list for the process, as
 * there is one log. Nothing but `withoutSecrets` reads it.
 */
const known = new Set<string>();

/** A shorter one would remove ordinary words from every message. */
const minSecretLength = 4;

/** Adds a key in each form in which a URL or JSON may repeat it. */
export function addKnownSecret(secret: string): void {
  if (secret.length < minSecretLength) return;
  const base64 = Buffer.from(secret).toString('base64');
  for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64]) known.add(form);
}

/** A text with `[secret]` in place of every known key. */
export function withoutSecrets(text: string): string {
  // The longest first: one key may be the start of another.
  const secrets = [...known].filter((secret) => text.includes(secret)).sort((one, other) => other.length - one.length);
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}
