import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { VirtualList } from '../../../../renderer/components/virtual-list.tsx';
import { standInForLayout } from '../../../support/layout-stand-ins.ts';

const rowHeight = 48;
const listHeight = 5 * rowHeight;

beforeAll(() => {
  standInForLayout();
  // jsdom gives everything no height.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(listHeight);
});
afterEach(cleanup);

function list(names: readonly string[], selectedKey: string | null) {
  return (
    <VirtualList
      label="Dataspaces"
      items={names}
      itemKey={(name) => name}
      rowHeight={rowHeight}
      renderItem={(name) => name}
      selectedKey={selectedKey}
      onSelect={() => {}}
    />
  );
}

const names = Array.from({ length: 60 }, (_, index) => `Dataspace ${index}`);
const scrolled = () => screen.getByRole('listbox').scrollTop;

test('scrolls to a row that was selected elsewhere, but not if it is in view', () => {
  const { rerender } = render(list(names, 'Dataspace 3'));
  expect(scrolled()).toBe(0);
  rerender(list(names, 'Dataspace 59'));
  expect(scrolled()).toBe(60 * rowHeight - listHeight);
  rerender(list(names, 'Dataspace 57'));
  expect(scrolled()).toBe(60 * rowHeight - listHeight);
  rerender(list(names, 'Dataspace 10'));
  expect(scrolled()).toBe(10 * rowHeight);
});

test("added and removed rows don't scroll the list", () => {
  const { rerender } = render(list(names, 'Dataspace 59'));
  screen.getByRole('listbox').scrollTop = 0;
  rerender(list(['Newest', ...names], 'Dataspace 59'));
  expect(scrolled()).toBe(0);
});
