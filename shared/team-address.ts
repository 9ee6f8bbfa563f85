import { AppError } from './app-error.ts';

/** What Node and browsers have alike. */
interface Parameters {
  get(name: string): string | null;
  set(name: string, value: string): void;
  keys(): Iterable<string>;
  readonly size: number;
}
interface ParsedAddress {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly username: string;
  readonly password: string;
  readonly searchParams: Parameters;
}
declare const URL: new (text: string) => ParsedAddress;
declare const URLSearchParams: new () => Parameters;

/** Where the team database is, without its password. */
export interface TeamAddress {
  /** A name, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Null if the address has none. */
  readonly password: string | null;
  readonly isEncrypted: boolean;
  /** A file of the host with certificates of authorities; null for those that Node trusts. */
  readonly authorities: string | null;
  /** Certificates of authorities that were given instead of a file. */
  readonly certificates?: string | null;
}

const invalid = (message: string): AppError => new AppError('invalid_request', message);
const example = 'postgres://user@db.example:5432/touchstone';

function urlOf(text: string): ParsedAddress {
  // A socket has no host, and URL requires one beside a user.
  const complete = text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[/?#]|$)/, '$1localhost');
  try {
    const url = new URL(complete);
    if (url.protocol === 'postgres:' || url.protocol === 'postgresql:') return url;
  } catch {
    // The message below doesn't repeat the address, which may contain a password.
  }
  throw invalid(`The address of the team database must be like ${example}.`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('The user, password and database of the address must encode % as %25.');
  }
}

const knownParameters = new Set(['host', 'port', 'sslmode', 'sslrootcert']);

/** Parses an address such as `postgres://user:password@host:5432/database?sslrootcert=FILE`. Throws `invalid_request`. */
export function parseTeamAddress(text: string): TeamAddress {
  const url = urlOf(text.trim());
  for (const name of url.searchParams.keys()) {
    if (!knownParameters.has(name))
      throw invalid(`The address of the team database has an unknown parameter: ${name}.`);
  }
  const mode = url.searchParams.get('sslmode') ?? 'verify-full';
  if (mode !== 'verify-full' && mode !== 'disable') {
    throw invalid('sslmode must be verify-full, which checks the certificate, or disable for a trusted network.');
  }
  const host = url.searchParams.get('host') ?? url.hostname.replaceAll(/^\[|\]$/g, '');
  const port = Number(url.searchParams.get('port') ?? (url.port || 5432));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid('The port must be a number from 1 to 65535.');
  const [user, database] = [decoded(url.username), decoded(url.pathname.slice(1))];
  if (user === '' || database === '') throw invalid(`The address needs a user and a database, like ${example}.`);
  return {
    host,
    port,
    database,
    user,
    password: url.password === '' ? null : decoded(url.password),
    isEncrypted: mode === 'verify-full' && !host.startsWith('/'),
    authorities: url.searchParams.get('sslrootcert'),
  };
}

/** The address without its password, for settings and messages. */
export function formatTeamAddress({ host, port, database, user, isEncrypted, authorities }: TeamAddress): string {
  const isSocket = host.startsWith('/');
  const location = isSocket ? '' : host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const parameters = new URLSearchParams();
  if (isSocket) parameters.set('host', host);
  if (isSocket && port !== 5432) parameters.set('port', String(port));
  if (!isEncrypted && !isSocket) parameters.set('sslmode', 'disable');
  if (authorities !== null) parameters.set('sslrootcert', authorities);
  const query = parameters.size === 0 ? '' : `?${parameters.toString().replaceAll('%2F', '/')}`;
  return `postgres://${encodeURIComponent(user)}@${location}/${encodeURIComponent(database)}${query}`;
}
