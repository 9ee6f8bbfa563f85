// Electron loads this before Touchstone, which then waits until the test is connected: otherwise a window would load its page
// while Playwright connects, on every machine at another moment of it.
const { app } = require('electron');

const ready = app.whenReady();
const { promise, resolve } = Promise.withResolvers();
app.whenReady = () => promise.then(() => ready);
globalThis.startTouchstone = resolve;
