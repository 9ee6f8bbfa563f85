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
  ["touchstone://open/audit/');alert(1)//", "/audit/');alert(1)//"],
  ['touchstone://open/', '/'],
  ['touchstone://open/prompts?version=2', '/prompts?version=2'],
  ['touchstone://open/commands/playground.run', null],
  ['touchstone://open/commands?a', null],
  ['touchstone://open/commands', null],
  ['touchstone://open/%63ommands/playground.run', null],
  ['touchstone://open/c%6fmmands/playground.run', null],
  ['touchstone://open//commands/playground.run', null],
  ['touchstone://open/#/commands/playground.run', null],
  [`touchstone://open/${'a'.repeat(8000)}`, null],
])('the link %s opens %s', (link, address) => {
  expect(addressOfLink(link)).toBe(address);
});
