import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { collectErrorOutput, type Child, type ChildOptions } from './child.ts';

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
      // Without a callback, a process that ends at this moment would emit an error.
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
