// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

const module = new URL('../../../electron/server/stop-on-signals.ts', import.meta.url).href;

/** A process that stops as the headless host does; `close` is the code of the host's own `close`. */
async function startProcess(close: string) {
  const script = `
    import { stopOnSignals } from ${JSON.stringify(module)};
    const parts = {
      listener: { close: async () => console.log('listener closed') },
      host: { close: async () => { ${close} } },
      log: (message) => console.log(message),
    };
    stopOnSignals(parts).addEventListener('abort', () => console.log('stopping'));
    setInterval(() => {}, 1000);
    console.log('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([status]) => status as number | null);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => void (text += piece));
  const printed = async (line: string) => {
    while (!text.includes(line)) await once(child.stdout, 'data');
  };
  await printed('ready');
  return { child, ended, printed, text: () => text };
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s closes the listener, then the host, then ends the process',
  async (name) => {
    const { child, ended, text } = await startProcess("console.log('host closed')");
    child.kill(name);
    expect(await ended).toBe(0);
    expect(text()).toBe('ready\nstopping\nlistener closed\nhost closed\n');
  },
);

test('a second signal ends the process at once', async () => {
  const { child, ended, printed } = await startProcess("console.log('closing'); await new Promise(() => {})");
  child.kill('SIGINT');
  await printed('closing');
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill('SIGINT');
  expect(await ended).toBe(1);
});

test('a host that does not close is abandoned after some seconds', async () => {
  const { child, ended, text } = await startProcess('await new Promise(() => {})');
  child.kill('SIGTERM');
  expect(await ended).toBe(1);
  expect(text()).toContain('Closing took too long');
});

test('a host that fails to close ends the process with a failure', async () => {
  const { child, ended, text } = await startProcess("throw new Error('disk full')");
  child.kill('SIGTERM');
  expect(await ended).toBe(1);
  expect(text()).toContain('did not close cleanly');
});
