/** How long anything that a test waits for may take on the slowest machine; on any other one it comes much sooner. */
export const patience = { timeout: 20_000, interval: 50 };
