/** Entry point of the thread that computes reports; started by `create-statistics.ts`. */
import { compareVariants } from '../../shared/statistics/compare-variants.ts';
import { serveCalls } from '../common/worker-server.ts';

const methods = { compareVariants };

export type StatisticsMethods = typeof methods;

serveCalls(methods);
