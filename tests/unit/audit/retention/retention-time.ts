/** What the tests of the retention take for the time. */
export const now = Date.UTC(2026, 10, 20, 12);
export const day = 86_400_000;
