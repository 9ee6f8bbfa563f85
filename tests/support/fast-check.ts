import * as fc from 'fast-check';

/**
 * The same random inputs in every run, so that a change fails only for what it changes. `TOUCHSTONE_TEST_SEED=random` draws new
 * ones, which may find older errors; another number repeats those of a failure.
 */
const seed = process.env['TOUCHSTONE_TEST_SEED'] ?? '1';
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export { fc };
