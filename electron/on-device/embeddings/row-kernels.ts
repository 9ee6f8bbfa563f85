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

/** Beyond this the unit is the number itself, or zero, but for less than the error below. */
const straightFrom = 4.25;

/** What the Gaussian error linear unit is less than a number, or than zero, by how far that is from zero; exact to about 6e-5. */
const bendCoefficients = [
  3.13966596e-5, -5.01464933e-4, 2.55363545e-3, -2.58750045e-4, -4.15393885e-2, 0.13173794, -5.06123572e-2,
  -0.380269212, 0.497406653, 5.88938356e-5,
];

/** `activate(values, vectors)`: the Gaussian error linear unit of four times `vectors` floats, in place. */
export const activate: FunctionDefinition = {
  name: 'activate',
  parameters: 2,
  build(scope, [values, vectors]) {
    const index = scope.integer();
    const [value, distance] = [scope.vector(), scope.vector()];
    const bent = floats.subtract(floats.greatest(get(value), vector.zero), polynomial(get(distance), bendCoefficients));
    return repeat(index, get(vectors!), [
      ...set(value, vector.load(get(values!))),
      ...set(distance, floats.least(floats.absolute(get(value)), floats.constant(straightFrom))),
      ...vector.store(get(values!), bent),
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
