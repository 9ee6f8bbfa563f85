/** Milliseconds that work takes before the window may draw a frame. */
const sliceMilliseconds = 8;
let sliceEnd = 0;

/** Lets the window draw and react once a slice of time is used up. Throws the signal's reason. */
export async function yieldToWindow(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (performance.now() < sliceEnd) return;
  await new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    // Unlike timers, messages aren't delayed after a few in a row.
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
  signal?.throwIfAborted();
  sliceEnd = performance.now() + sliceMilliseconds;
}
