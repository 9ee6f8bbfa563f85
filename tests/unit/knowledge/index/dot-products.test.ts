import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import wabt from 'wabt';
import { dotProductsModule } from '../../../../electron/knowledge/index/vector-store.ts';

test('the bytes match the source next to them', async () => {
  const source = readFileSync('electron/knowledge/index/dot-products.wat', 'utf8');
  const { parseWat } = await wabt();
  const { buffer } = parseWat('dot-products.wat', source, { simd: true }).toBinary({});
  expect(Buffer.from(dotProductsModule, 'base64').equals(Buffer.from(buffer))).toBe(true);
});
