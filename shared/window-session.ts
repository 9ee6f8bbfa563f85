/**
 * How a window in a browser proves that it is ours. Browsers send a cookie to every port of one name, so the cookie alone proves
 * nothing. The session secret lies in `localStorage`, which browsers isolate by origin and therefore by port.
 */
export const sessionStorageKey = 'touchstone.session';

/** Carries the session secret on every request of the window. */
export const sessionHeader = 'x-touchstone-session';

/** Subprotocol of the window's WebSocket. The secret follows as a second one: browsers allow no header of our own here. */
export const socketProtocol = 'touchstone';

/** Followed by a ticket that works once: a browser saves a file by plain navigation, which carries no header. */
export const downloadPath = '/window/downloads/';
