// Electron loads this before Touchstone, which then waits for the test to be connected: Playwright misses a window now and then
// that loads its page while Playwright connects, and would wait for it for ever.
const { app } = require('electron');

const ready = app.whenReady();
const { promise, resolve } = Promise.withResolvers();
app.whenReady = () => promise.then(() => ready);
globalThis.startTouchstone = resolve;
