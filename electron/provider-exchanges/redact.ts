/** Replaces a credential. */
export const redacted = '[redacted]';

/**
 * Names of headers that carry credentials. Gateways have their own, such as `helicone-auth`, `x-portkey-virtual-key` and `cf-access-client-secret`. An
 * `idempotency-key` and `x-ratelimit-remaining-tokens` are none.
 */
const secretHeader =
  /(?:^|-)(?:auth|authorization|token|secret|password|credentials?|cookie)$|(?:api|access|auth|private|secret|subscription|virtual)-?key$/i;

/** Query parameters that carry credentials; lower-case. */
const secretParameters = new Set([
  'key',
  'api_key',
  'api-key',
  'apikey',
  'access_token',
  'token',
  'sig',
  'signature',
  'secret',
  'client_secret',
  'password',
  'code',
  'subscription-key',
]);

/** A shorter credential would also match ordinary text. */
const minSecretLength = 8;

/** A credential in each form in which a URL or a JSON body may repeat it, longest first. */
export function secretForms(key: string | null): readonly string[] {
  if (key === null || key.length < minSecretLength) return [];
  const forms = [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)];
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
}

/** Characters of the longest escape of JSON, such as `\u002f`. */
export const maxEscapeLength = 6;

/** A credential of which any character may be an escape of JSON. */
function escapedForm(secret: string): RegExp {
  const characters = Array.from({ length: secret.length }, (_, index) => {
    const code = secret.charCodeAt(index).toString(16).padStart(4, '0');
    const digits = code.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    return `(?:\\u${code}|\\\\u${digits}${secret[index] === '/' ? String.raw`|\\/` : ''})`;
  });
  return new RegExp(characters.join(''), 'g');
}

export function redactText(text: string, secrets: readonly string[]): string {
  const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, redacted), text);
  if (!clean.includes(String.raw`\u00`) && !clean.includes(String.raw`\/`)) return clean;
  return secrets.reduce((rest, secret) => rest.replace(escapedForm(secret), redacted), clean);
}

/** Escapes of JSON for characters that need none. Some servers write `/` or every character of a key so. */
const optionalEscape = /\\u00([2-7][\da-f])|\\\//gi;

/** Whether a text, also one in JSON, repeats a credential. */
export function hasSecret(text: Buffer, secrets: readonly string[]): boolean {
  if (secrets.some((secret) => text.includes(secret))) return true;
  if (secrets.length === 0 || (!text.includes('\\u00') && !text.includes('\\/'))) return false;
  const plain = text
    .toString()
    .replace(optionalEscape, (_, code?: string) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : '/'));
  return secrets.some((secret) => plain.includes(secret));
}

export function redactHeaders(
  headers: Iterable<readonly [string, string]>,
  secrets: readonly string[],
): [string, string][] {
  return Array.from(headers, ([name, value]) => [
    name,
    secretHeader.test(name) ? redacted : redactText(value, secrets),
  ]);
}

export function redactUrl(url: string, secrets: readonly string[]): string {
  const queryStart = url.indexOf('?');
  if (queryStart === -1) return redactText(url, secrets);
  const parameters = url.slice(queryStart + 1).split('&');
  const clean = parameters.map((parameter) => {
    const [name = ''] = parameter.split('=', 1);
    return secretParameters.has(name.toLowerCase()) ? `${name}=${redacted}` : parameter;
  });
  return redactText(`${url.slice(0, queryStart)}?${clean.join('&')}`, secrets);
}
