import {
  type Code,
  floats,
  type FunctionDefinition,
  get,
  integer,
  type Local,
  repeat,
  set,
  vector,
} from './assembler.ts';
import { acrossLanes, advance, floatBytes, lanes, polynomial, tokenSize, vectorBytes } from './kernel-parts.ts';

/** Of the error function as a quotient of polynomials between -4 and 4, as in the Eigen library; exact to about 3e-7. */
const errorFunctionOver = [
  -2.72614225801306e-10, 2.77068142495902e-8, -2.10102402082508e-6, -5.69250639462346e-5, -7.34990630326855e-4,
  -2.95459980854025e-3, -1.60960333262415e-2,
];
const errorFunctionUnder = [
  -1.45660718464996e-5, -2.13374055278905e-4, -1.68282697438203e-3, -7.37332916720468e-3, -1.42647390514189e-2,
];

/** `activate(values, vectors)`: the Gaussian error linear unit of four times `vectors` floats, in place. */
export const activate: FunctionDefinition = {
  name: 'activate',
  parameters: 2,
  build(scope, [values, vectors]) {
    const index = scope.integer();
    const [value, argument, square] = [scope.vector(), scope.vector(), scope.vector()];
    const limited = floats.least(
      floats.greatest(floats.multiply(get(value), floats.constant(Math.SQRT1_2)), floats.constant(-4)),
      floats.constant(4),
    );
    const error = floats.divide(
      floats.multiply(get(argument), polynomial(get(square), errorFunctionOver)),
      polynomial(get(square), errorFunctionUnder),
    );
    const half = floats.multiply(get(value), floats.constant(0.5));
    return repeat(index, get(vectors!), [
      ...set(value, vector.load(get(values!))),
      ...set(argument, limited),
      ...set(square, floats.multiply(get(argument), get(argument))),
      ...vector.store(get(values!), floats.multiplyAdd(half, error, half)),
      ...advance(values!, integer.constant(vectorBytes)),
    ]);
  },
};

/** `normalise(values, others, scale, bias, rows)`: each row of `values` plus its row of `others`, normalised, in place. */
export const normalise: FunctionDefinition = {
  name: 'normalise',
  parameters: 5,
  build(scope, [values, others, scale, bias, rows]) {
    const [row, index, offset, at] = [scope.integer(), scope.integer(), scope.integer(), scope.integer()];
    const [sum, mean, value, factor] = [scope.vector(), scope.vector(), scope.vector(), scope.vector()];
    const share = floats.constant(1 / tokenSize);
    const rowBytes = integer.constant(tokenSize * floatBytes);
    const overRow = (body: Code): Code => [
      ...set(offset, integer.constant(0)),
      ...repeat(index, integer.constant(tokenSize / lanes), [
        ...set(at, integer.add(get(values!), get(offset))),
        ...body,
        ...advance(offset, integer.constant(vectorBytes)),
      ]),
    ];
    const within = (address: Local) => vector.load(integer.add(get(address), get(offset)));
    const added = overRow([
      ...set(value, floats.add(vector.load(get(at)), within(others!))),
      ...set(sum, floats.add(get(sum), get(value))),
      ...vector.store(get(at), get(value)),
    ]);
    const squared = overRow([
      ...set(value, floats.subtract(vector.load(get(at)), get(mean))),
      ...set(sum, floats.multiplyAdd(get(value), get(value), get(sum))),
      ...vector.store(get(at), get(value)),
    ]);
    const factored = floats.multiply(vector.load(get(at)), get(factor));
    const scaled = overRow(vector.store(get(at), floats.multiplyAdd(factored, within(scale!), within(bias!))));
    const variance = floats.multiplyAdd(get(sum), share, floats.constant(1e-12));
    return repeat(row, get(rows!), [
      ...set(sum, vector.zero),
      ...added,
      ...acrossLanes(sum, floats.add),
      ...set(mean, floats.multiply(get(sum), share)),
      ...set(sum, vector.zero),
      ...squared,
      ...acrossLanes(sum, floats.add),
      ...set(factor, floats.divide(floats.constant(1), floats.squareRoot(variance))),
      ...scaled,
      ...advance(values!, rowBytes),
      ...advance(others!, rowBytes),
    ]);
  },
};
