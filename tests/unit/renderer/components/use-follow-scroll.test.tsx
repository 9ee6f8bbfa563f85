import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { useFollowScroll } from '../../../../renderer/components/use-follow-scroll.ts';
import { standInForLayout } from '../../../support/layout-stand-ins.ts';

beforeAll(() => {
  standInForLayout();
  // jsdom gives everything no height: every line of the text counts for 100 pixels in a view of 200.
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(200);
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockImplementation(function (this: HTMLElement) {
    return this.querySelectorAll('p').length * 100;
  });
});
afterEach(cleanup);

function Answer({ lines, isGrowing }: { lines: number; isGrowing: boolean }) {
  const { scroller, onScroll } = useFollowScroll('run', isGrowing);
  return (
    <div ref={scroller} role="log" onScroll={onScroll}>
      <div>
        {Array.from({ length: lines }, (_, index) => (
          <p key={index}>line</p>
        ))}
      </div>
    </div>
  );
}

const view = () => screen.getByRole('log');

test('a reader at the end sees messages below the text when a run ends', () => {
  const { rerender } = render(<Answer lines={6} isGrowing />);
  rerender(<Answer lines={8} isGrowing={false} />);
  expect(view().scrollTop).toBe(800);
});

test("a reader who has scrolled up doesn't move when the run ends", () => {
  const { rerender } = render(<Answer lines={6} isGrowing />);
  view().scrollTop = 100;
  view().dispatchEvent(new Event('scroll', { bubbles: true }));
  rerender(<Answer lines={8} isGrowing={false} />);
  expect(view().scrollTop).toBe(100);
});

test('a text that arrives with the end of its run is shown from its start', () => {
  const { rerender } = render(<Answer lines={0} isGrowing />);
  rerender(<Answer lines={8} isGrowing={false} />);
  expect(view().scrollTop).toBe(0);
});

test('an earlier text is shown from its start', () => {
  render(<Answer lines={8} isGrowing={false} />);
  expect(view().scrollTop).toBe(0);
});
