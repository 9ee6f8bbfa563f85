import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { Tooltip } from 'radix-ui';
import { afterEach, expect, test } from 'vitest';
import { LookupTable } from '../../../../../renderer/components/tools/lookup-table.tsx';
import type { ToolMock } from '../../../../../shared/contract/tools.ts';

afterEach(cleanup);

type Lookup = Extract<ToolMock, { kind: 'lookUp' }>;
/** What the last change stored. */
let latest: Lookup;

function Table() {
  const [mock, setMock] = useState<Lookup>({
    kind: 'lookUp',
    otherwise: null,
    entries: [
      { arguments: {}, content: 'one', isError: false },
      { arguments: { id: 2 }, content: 'two', isError: false },
    ],
  });
  const take = (next: ToolMock) => {
    latest = next as Lookup;
    setMock(latest);
  };
  return (
    <Tooltip.Provider>
      <LookupTable mock={mock} page={0} onPage={() => {}} onChange={take} />
    </Tooltip.Provider>
  );
}

test('after a row is removed, the others show their own arguments', () => {
  render(<Table />);
  const shown = () =>
    screen.getAllByRole<HTMLInputElement>('textbox', { name: /^Arguments of row/ }).map(({ value }) => value);
  fireEvent.change(screen.getByRole('textbox', { name: 'Arguments of row 1' }), { target: { value: '{"id": 1}' } });
  fireEvent.click(screen.getByRole('button', { name: 'Remove row 1' }));
  expect(latest.entries).toEqual([{ arguments: { id: 2 }, content: 'two', isError: false }]);
  expect(shown()).toEqual(['{"id":2}']);
});
