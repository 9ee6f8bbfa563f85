import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** How a child process ended. One of `signal` and `code` is set, or `error` if it couldn't start. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error: Error | null;
}

export interface ChildOptions {
  /** Entry point, from `workerUrl`. */
  readonly program: URL;
  readonly parameters?: readonly string[];
  /** All environment variables of the process, from `childEnvironment`. */
  readonly environment: NodeJS.ProcessEnv;
  /** Limit of V8's heap. Electron ignores it, so a program that needs a limit must also watch its own memory. */
  readonly heapMegabytes?: number;
}

/** One of our programs in a separate process. Messages are structured clones. */
export interface Child {
  /** The operating system's ID; undefined until the process has started. */
  readonly processId: number | undefined;
  /** The end of its error output, for the log. */
  readonly errorOutput: string;
  /** Does nothing after the end of the process. */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  onEnd(listener: (end: ChildEnd) => void): void;
  /** Kills the process. */
  kill(): void;
  /** Whether this process stays alive for the child; true at the start. */
  setHoldsHost(isHolding: boolean): void;
}

/** The desktop host starts Electron's utility processes, the headless host forks Node. */
export type StartChild = (options: ChildOptions) => Child;

const maxErrorCharacters = 4000;

/** Collects the end of a process's error output. */
export function collectErrorOutput(stream: NodeJS.ReadableStream | null): () => string {
  let collected = '';
  stream?.setEncoding('utf8').on('data', (text: string) => {
    collected = (collected + text).slice(-maxErrorCharacters);
  });
  return () => collected;
}

export function describeEnd({ code, signal, error }: ChildEnd): string {
  return error?.message ?? signal ?? `exit code ${code}`;
}

const commonVariables = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LD_LIBRARY_PATH'];

/** The few variables that every child needs, and `more`. Ours may contain provider keys, so a child never gets all of them. */
export function childEnvironment(more: readonly string[] = []): NodeJS.ProcessEnv {
  const entries = [...commonVariables, ...more].map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Starts a program of ours on the Node that runs this one. */
export function forkChild({ program, parameters = [], environment, heapMegabytes }: ChildOptions): Child {
  const child = fork(fileURLToPath(program), parameters, {
    serialization: 'advanced',
    // Replaces the options of a debugger or test runner.
    execArgv: heapMegabytes === undefined ? [] : [`--max-old-space-size=${heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: environment,
  });
  const errorOutput = collectErrorOutput(child.stderr);
  return {
    get processId() {
      return child.pid;
    },
    get errorOutput() {
      return errorOutput();
    },
    send(message) {
      // Without a callback, a process that is just ending would emit an error.
      if (child.connected) child.send(message as object, () => {});
    },
    onMessage: (listener) => void child.on('message', listener),
    onEnd(listener) {
      child.once('error', (error) => listener({ code: null, signal: null, error }));
      child.once('exit', (code, signal) => listener({ code, signal, error: null }));
    },
    kill: () => void child.kill('SIGKILL'),
    setHoldsHost(isHolding) {
      const change = isHolding ? 'ref' : 'unref';
      child[change]();
      child.channel?.[change]();
      if (!isHolding) (child.stderr as { unref?: () => void } | null)?.unref?.();
    },
  };
}
