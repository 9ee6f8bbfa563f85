import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { describe } from 'vitest';

/** Where Debian and other systems install the server's programs. */
function programsFolder(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null;
}

/** PostgreSQL rejects root, so it runs as its own user there, or as nobody. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = (users.find((line) => line.startsWith('postgres:')) ?? 'nobody:x:65534:65534').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

export function obstacleToPostgres(): string | null {
  if (process.platform === 'win32') return 'The tests of PostgreSQL need Unix sockets.';
  return programsFolder() === null ? 'PostgreSQL is missing. Install the package `postgresql`.' : null;
}

/** A suite that needs PostgreSQL. Without it, it is skipped and says why; with TOUCHSTONE_REQUIRE_ALL_SUITES=1 that is a failure. */
export function describeWithPostgres(name: string, body: () => void): void {
  const obstacle = obstacleToPostgres();
  if (obstacle === null) return void describe(name, body);
  if (process.env['TOUCHSTONE_REQUIRE_ALL_SUITES'] === '1') throw new Error(`${name} cannot be tested: ${obstacle}`);
  process.stderr.write(`SKIPPED: ${name}. ${obstacle}\n`);
  describe.skip(`${name} (${obstacle})`, body);
}

/** A folder that the server's user owns. Sockets have short paths. */
function ownedFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  const user = serverUser();
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

function runProgram(name: string, parameters: readonly string[]): void {
  execFileSync(join(programsFolder()!, name), parameters, { ...serverUser(), cwd: '/', stdio: 'pipe' });
}

/** A cluster takes a second to initialise and a tenth to copy. The template stays for later runs. */
function templateFolder(): string {
  const version = execFileSync(join(programsFolder()!, 'postgres'), ['--version'], { encoding: 'utf8' });
  const template = join(tmpdir(), `touchstone-postgres-${process.getuid!()}-${version.replaceAll(/[^\d.]/g, '')}`);
  if (existsSync(join(template, 'PG_VERSION'))) return template;
  const folder = ownedFolder('touchstone-initdb-');
  runProgram('initdb', ['-D', folder, '-U', 'owner', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']);
  try {
    renameSync(folder, template);
  } catch {
    // Another test process was faster.
    rmSync(folder, { recursive: true });
  }
  return template;
}

export interface TestPostgresOptions {
  /** Survives a loss of power. Off by default. */
  readonly isDurable?: boolean;
  /** More settings, such as `shared_buffers=1GB`. */
  readonly settings?: readonly string[];
  /** Also listens on this TCP port of the loopback address. */
  readonly port?: number;
  /** Keeps the cluster in this folder, where a later start finds it. Otherwise the folder is a temporary one. */
  readonly folder?: string;
}

/** A real PostgreSQL on a socket in a temporary folder. */
export class TestPostgres {
  readonly folder: string;
  readonly #options: TestPostgresOptions;
  #server: { pid: number; ended: Promise<void> } | null = null;
  #databases = 0;

  private constructor(folder: string, options: TestPostgresOptions) {
    this.folder = folder;
    this.#options = options;
  }

  static async start(options: TestPostgresOptions = {}): Promise<TestPostgres> {
    const folder = options.folder ?? ownedFolder('ts-pg-');
    if (!existsSync(join(folder, 'PG_VERSION'))) execFileSync('cp', ['-a', `${templateFolder()}/.`, folder]);
    const server = new TestPostgres(folder, options);
    await server.run();
    return server;
  }

  /** Starts the server, also again after `kill`. */
  async run(): Promise<void> {
    // After `kill`, children of the old server may still use its shared memory for a moment.
    while (!(await this.#tryRun())) await delay(50);
  }

  async #tryRun(): Promise<boolean> {
    const { isDurable = false, settings = [], port } = this.#options;
    const all = [
      `unix_socket_directories=${this.folder}`,
      `listen_addresses=${port === undefined ? '' : '127.0.0.1'}`,
      `port=${port ?? 5432}`,
      'max_connections=60',
      ...(isDurable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
      ...settings,
    ].flatMap((setting) => ['-c', setting]);
    const child = spawn(join(programsFolder()!, 'postgres'), ['-D', this.folder, ...all], {
      ...serverUser(),
      cwd: '/',
      stdio: ['ignore', 'ignore', process.env['TEST_POSTGRES_LOG'] ? 'inherit' : 'ignore'],
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#server = { pid: child.pid!, ended };
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    return this.#accepts(() => hasEnded);
  }

  /** Resolves with false if the server ends before it accepts connections. */
  async #accepts(hasEnded: () => boolean): Promise<boolean> {
    while (!hasEnded()) {
      const client = new pg.Client({ host: this.folder, port: this.port, user: 'owner', database: 'postgres' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.end();
        return true;
      } catch (error) {
        const { code } = error as { code?: string };
        // 57P03: the server is still starting.
        if (code !== 'ENOENT' && code !== 'ECONNREFUSED' && code !== '57P03' && code !== 'ECONNRESET') throw error;
        await delay(20);
      }
    }
    return false;
  }

  get port(): number {
    return this.#options.port ?? 5432;
  }

  /** The address of a new, empty database. */
  async createDatabase(user = 'owner'): Promise<string> {
    const name = `team_${(this.#databases += 1)}`;
    await this.query('postgres', `CREATE DATABASE ${name}`);
    return this.address(name, user);
  }

  /** The address of a new database with the contents of another one, which nobody may be using. */
  async copyDatabase(address: string): Promise<string> {
    const name = `team_${(this.#databases += 1)}`;
    await this.query('postgres', `CREATE DATABASE ${name} TEMPLATE ${/\/([^/?]+)\?/.exec(address)![1]}`);
    return this.address(name);
  }

  address(database: string, user = 'owner'): string {
    return `postgres://${user}@/${database}?host=${this.folder}&port=${this.port}`;
  }

  /** Runs a statement as the owner. `database` may be an address of `createDatabase`. */
  async query<Row extends pg.QueryResultRow>(database: string, sql: string, values: unknown[] = []): Promise<Row[]> {
    const name = database.startsWith('postgres:') ? /\/([^/?]+)\?/.exec(database)![1] : database;
    const client = new pg.Client({ host: this.folder, port: this.port, user: 'owner', database: name });
    await client.connect();
    try {
      const { rows } = await client.query<Row>(sql, values);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** `kill -9` of the server. Its children end when they notice. */
  async kill(): Promise<void> {
    process.kill(this.#server!.pid, 'SIGKILL');
    await this.#server!.ended;
  }

  /** Ends the connections at once and stops the server. */
  async stop(): Promise<void> {
    if (this.#server === null) return;
    try {
      process.kill(this.#server.pid, 'SIGQUIT');
    } catch {
      // It was killed before.
    }
    await this.#server.ended;
    this.#server = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    if (this.#options.folder !== undefined) return;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }
}
