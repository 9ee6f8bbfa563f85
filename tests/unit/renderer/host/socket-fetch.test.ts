import { expect, test } from 'vitest';
import { createSocketFetch } from '../../../../renderer/host/socket-fetch.ts';
import type { HostFetch, HostRequest } from '../../../../renderer/host/host-fetch.ts';
import type { FramePort, HostFrame, WindowFrame } from '../../../../shared/port-frames.ts';

/** A socket whose frames the test reads and whose end it decides. */
function openPort() {
  const sent: WindowFrame[] = [];
  const closers: (() => void)[] = [];
  const port: FramePort<HostFrame, WindowFrame> = {
    send: (frame) => sent.push(frame),
    receive: () => {},
    onClose: (listener) => closers.push(listener),
  };
  return { port, sent, close: () => closers.forEach((closer) => closer()) };
}

const request: HostRequest = { method: 'POST', path: '/run', headers: {}, body: '{}', isLasting: true };
const direct: HostFetch = () => Promise.reject(new Error('not over the socket'));
const types = (sent: readonly WindowFrame[]) => sent.map(({ type }) => type);

test('a request over an open socket is sent at once, and another socket is opened after a loss', async () => {
  const sockets = [openPort(), openPort()] as const;
  let opened = 0;
  const hostFetch = createSocketFetch({ direct, open: () => Promise.resolve(sockets[opened++]!.port) });
  const first = hostFetch(request);
  expect(types(sockets[0].sent)).toEqual([]);
  await expect.poll(() => types(sockets[0].sent)).toEqual(['request']);
  const second = hostFetch(request);
  // Without a turn of the event loop: the window would render the run before.
  expect(types(sockets[0].sent)).toEqual(['request', 'request']);
  sockets[0].close();
  await expect(Promise.allSettled([first, second])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  const third = hostFetch(request);
  await expect.poll(() => types(sockets[1].sent)).toEqual(['request']);
  expect(opened).toBe(2);
  sockets[1].close();
  await expect(third).rejects.toThrow();
});
