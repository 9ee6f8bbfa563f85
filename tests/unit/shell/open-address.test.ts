import { expect, test } from 'vitest';
import { addressOfLink } from '../../../electron/shell/window-address.ts';

test.each([
  ['touchstone://open/agents/1', '/agents/1'],
  ['touchstone://open/audit/text=refund&score=-10..-4', '/audit/text=refund&score=-10..-4'],
  ['touchstone://open', null],
  ['touchstone://other/agents', null],
  ['https://open/agents', null],
  ['--data-dir=/tmp', null],
  ['touchstone://open/a b', null],
  ["touchstone://open/');alert(1)//", "/');alert(1)//"],
  [`touchstone://open/${'a'.repeat(8000)}`, null],
])('the link %s opens %s', (link, address) => {
  expect(addressOfLink(link)).toBe(address);
});
