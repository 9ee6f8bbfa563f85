/** A drawing is followed by a rest of this many times its length, so that a slow machine still answers to the hand. */
const restFactor = 2;

/**
 * Hands on only the newest state, at most once for each frame that the screen draws. Tokens come faster than that, and each
 * hand-on draws. A hidden window has no frames and draws nothing until it is shown or the run ends.
 */
export function oncePerFrame<State>(draw: (state: State) => void): {
  push(state: State): void;
  flush(state: State): void;
} {
  let newest: State | null = null;
  let request = 0;
  let restEnds = 0;
  const drawNewest = (): void => {
    request = 0;
    const began = performance.now();
    if (began < restEnds) {
      request = requestAnimationFrame(drawNewest);
      return;
    }
    if (newest !== null) draw(newest);
    newest = null;
    // React draws what a store hands on in a microtask of its own, before this one.
    queueMicrotask(() => {
      const ended = performance.now();
      restEnds = ended - began < 8 ? 0 : ended + (ended - began) * restFactor;
    });
  };
  return {
    push: (state) => {
      newest = state;
      request ||= requestAnimationFrame(drawNewest);
    },
    flush: (state) => {
      cancelAnimationFrame(request);
      newest = null;
      draw(state);
    },
  };
}
