import {
  assemble,
  type Code,
  get,
  maximumPages,
  plainByteProducts,
  relaxedByteProducts,
  vector,
  webAssembly,
} from './assembler.ts';
import { vectorBytes } from './kernel-parts.ts';

/** How weights (signed bytes) and values (bytes from 0 to 255) are multiplied and added. All ways give the same numbers. */
export interface ByteProducts {
  /** Whether values must be passed less 128, as signed bytes. 128 times the weights is then added. */
  readonly isSigned: boolean;
  /** `sum` plus, in each of four lanes, the products of four weights and four values. */
  add(sum: Code, weights: Code, values: Code): Code;
}

/** One instruction on x86 processors that have it (AVX-VNNI). */
const relaxedUnsigned: ByteProducts = { isSigned: false, add: relaxedByteProducts };

/** One instruction on ARM processors. */
const relaxedSigned: ByteProducts = { isSigned: true, add: relaxedByteProducts };

/** Several instructions on every processor. */
export const portableByteProducts: ByteProducts = { isSigned: false, add: plainByteProducts };

/** The result of the relaxed instruction for 127 times 255, four times. */
function askProcessor(): number {
  const bytes = assemble(
    [
      {
        name: 'probe',
        parameters: 1,
        build: (_scope, [address]) =>
          vector.store(
            get(address!),
            relaxedByteProducts(vector.zero, vector.load(get(address!)), vector.load(get(address!), vectorBytes)),
          ),
      },
    ],
    maximumPages,
  );
  const memory = new webAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  new Uint8Array(memory.buffer, 0, vectorBytes).fill(127);
  new Uint8Array(memory.buffer, vectorBytes, vectorBytes).fill(255);
  const { exports } = new webAssembly.Instance(new webAssembly.Module(bytes), { host: { memory } });
  exports['probe']!(0);
  return new Int32Array(memory.buffer)[0]!;
}

/** The fastest way that is exact on this processor. */
export function chooseByteProducts(): ByteProducts {
  const answer = askProcessor();
  if (answer === 4 * 127 * 255) return relaxedUnsigned;
  if (answer === 4 * 127 * -1) return relaxedSigned;
  return portableByteProducts;
}
