/** Entry point of the thread that computes reports; started by `create-statistics.ts`. */
import { compareVariants } from '../../shared/statistics/compare-variants.ts';
import { serveCalls } from '../common/worker-server.ts';

interface OrderedRows {
  readonly rows: Uint32Array;
  /** Of each of these rows. */
  readonly keys: Float64Array;
}

/** The rows with the largest key first. */
function orderRows({ rows, keys }: OrderedRows): Uint32Array {
  const order = Uint32Array.from(rows.keys());
  order.sort((one, other) => keys[other]! - keys[one]! || one - other);
  return order.map((index) => rows[index]!);
}

const methods = { compareVariants, orderRows };

export type StatisticsMethods = typeof methods;

serveCalls(methods);
