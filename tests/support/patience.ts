/** How long anything that a test waits for may take on the slowest machine; on any other one it comes much sooner. */
export const patience = { timeout: 60_000, interval: 50 };

/** A whole test that does thousands of things, starts many processes or has a real model answer; each of them is waited for as above. */
export const longTest = { timeout: 10 * patience.timeout };
