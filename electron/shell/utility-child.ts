import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { utilityProcess } from 'electron';
import { collectErrorOutput, type Child, type ChildEnd, type ChildOptions } from '../child-process/child.ts';

/** Electron reports the number of a signal as the exit code. Our own programs exit with none of these. */
const fatalSignals = (['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGKILL', 'SIGSEGV', 'SIGTERM'] as const).map(
  (name) => [constants.signals[name], name] as const,
);

function toEnd(code: number): ChildEnd {
  const signal = process.platform === 'win32' ? undefined : fatalSignals.find(([number]) => number === code)?.[1];
  return signal ? { code: null, signal, error: null } : { code, signal: null, error: null };
}

function killProcess(processId: number | undefined): void {
  if (processId === undefined) return;
  try {
    process.kill(processId, 'SIGKILL');
  } catch (error) {
    // It has ended, and the event for it will follow.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Starts one of our programs in an Electron utility process. The executable doesn't run as plain Node: otherwise any program could
 * run code under our identity, with our access to the keychain.
 */
export function startUtilityChild({ program, parameters = [], environment }: ChildOptions): Child {
  const child = utilityProcess.fork(fileURLToPath(program), [...parameters], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: environment as Record<string, string>,
    serviceName: 'Touchstone',
  });
  const errorOutput = collectErrorOutput(child.stderr);
  // The event `exit` follows; without a listener this one would end the host.
  child.on('error', () => {});
  return {
    get processId() {
      return child.pid;
    },
    get errorOutput() {
      return errorOutput();
    },
    send: (message) => child.postMessage(message),
    onMessage: (listener) => void child.on('message', listener),
    onEnd: (listener) => void child.once('exit', (code) => listener(toEnd(code))),
    kill() {
      // A process that is still starting has no id and can't be ended yet.
      if (child.pid === undefined) child.once('spawn', () => killProcess(child.pid));
      else killProcess(child.pid);
    },
    // Windows, not child processes, keep Electron alive.
    setHoldsHost() {},
  };
}
