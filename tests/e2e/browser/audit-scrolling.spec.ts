import type { Page } from '@playwright/test';
import { expect, test } from './audit-host.ts';
import { auditPage } from './audit-page.ts';

/** Places of the rows that are drawn and not read, and of those that are read, from the top. */
function drawn(page: Page): Promise<{ positions: number[]; unread: number }> {
  return page.evaluate(() => {
    const list = document.querySelector('[role=listbox][aria-label=Conversations]') as HTMLElement;
    const { top, bottom } = list.getBoundingClientRect();
    const rows = [...list.querySelectorAll<HTMLElement>('[role=option]')].filter((row) => {
      const box = row.getBoundingClientRect();
      return box.bottom > top && box.top < bottom;
    });
    return {
      positions: rows.map((row) => Number(row.getAttribute('aria-posinset'))).sort((one, other) => one - other),
      unread: rows.filter((row) => row.getAttribute('aria-label') === 'Loading').length,
    };
  });
}

/** Every position once, in order, none missing. */
function isWhole(positions: readonly number[]): boolean {
  return positions.length > 5 && positions.every((position, index) => position === (positions[0] as number) + index);
}

test('scroll bar, Home and End reach the whole list, and every row is at its position', async ({ page, served }) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit`);
  await audit.settled();
  const total = Number(await audit.list.getByRole('option').first().getAttribute('aria-setsize'));
  await audit.list.focus();
  await page.keyboard.press('End');
  await audit.isAt(total);
  await expect
    .poll(async () => {
      const { positions, unread } = await drawn(page);
      return { last: positions.at(-1), unread };
    })
    .toEqual({ last: total, unread: 0 });
  await page.keyboard.press('Home');
  await expect(audit.openRow).toHaveAttribute('aria-posinset', '1');

  await audit.list.evaluate((list) => (list.scrollTop = (list.scrollHeight - list.clientHeight) / 2));
  await expect
    .poll(async () => {
      const { positions, unread } = await drawn(page);
      const isInTheMiddle = Math.abs((positions[0] ?? 0) / total - 0.5) < 0.02;
      return { isWhole: isWhole(positions), isInTheMiddle, unread };
    })
    .toEqual({ isWhole: true, isInTheMiddle: true, unread: 0 });
});

/** By how many pixels the window and the screen can be scrolled, sideways and down. */
function scrollableBy(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const screen = document.querySelector('main') as HTMLElement;
    return [document.documentElement, screen].flatMap((box) => [
      box.scrollWidth - box.clientWidth,
      box.scrollHeight - box.clientHeight,
    ]);
  });
}

test("at every size rows show their whole cost, texts don't overlap, and only panels scroll", async ({
  page,
  served,
}) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit/all`);
  for (const size of [
    { width: 1680, height: 1000 },
    { width: 1280, height: 800 },
    { width: 980, height: 700 },
    { width: 640, height: 400 },
  ]) {
    await page.setViewportSize(size);
    await audit.settled();
    // Below the smallest window of the desktop, at 200 % zoom, panes stack and the screen scrolls.
    if (size.width >= 980) await expect.poll(() => scrollableBy(page)).toEqual([0, 0, 0, 0]);
    // A text that is wider than its box overlaps the next one; only the caller's name may be cut.
    const areWhole = (details: Element[]) => details.map(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
    const details = page.locator('.inline-facts > div:not(:first-child)');
    // The conversation comes after the list.
    await expect
      .poll(async () => ({ size, facts: await details.evaluateAll(areWhole) }))
      .toEqual({ size, facts: [true, true, true] });
    const costs = () =>
      audit.list.evaluate((list) =>
        [...list.querySelectorAll<HTMLElement>('.conversation')]
          .filter((row) => row.textContent.includes('$'))
          .map((row) => {
            const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT, (node) =>
              node.nodeValue!.startsWith('$') ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP,
            );
            const range = document.createRange();
            range.selectNodeContents(texts.nextNode()!);
            const { left, right, width } = range.getBoundingClientRect();
            // The boxes that cut off what is wider than they are.
            const clips = [range.startContainer.parentElement!, row, list].flatMap((from) => {
              const boxes: DOMRect[] = [];
              for (let box: Element | null = from; box && box !== list.parentElement; box = box.parentElement)
                if (getComputedStyle(box).overflowX !== 'visible') boxes.push(box.getBoundingClientRect());
              return boxes;
            });
            return width > 0 && clips.every((clip) => left >= clip.left - 0.5 && right <= clip.right + 0.5);
          }),
      );
    await expect
      .poll(async () => {
        const shown = await costs();
        return { size, isAny: shown.length > 0, areWhole: shown.every(Boolean) };
      })
      .toEqual({ size, isAny: true, areWhole: true });
  }
});

test('scrolling with the wheel shows rows without gaps and blanks', async ({ page, served }) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit`);
  await audit.settled();
  await audit.list.hover();
  for (let step = 0; step < 40; step += 1) {
    await page.mouse.wheel(0, 220);
    await expect.poll(async () => isWhole((await drawn(page)).positions)).toBe(true);
  }
  await expect.poll(async () => (await drawn(page)).unread).toBe(0);
});

test('jumps to a date without filtering the list', async ({ page, served }) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit`);
  await audit.settled();
  const before = await audit.count.textContent();
  const target = new Date(Date.now() - 365 * 86_400_000);
  await page.getByRole('button', { name: 'Go to a date' }).click();
  await page.getByLabel('Go to', { exact: true }).fill(target.toISOString().slice(0, 10));
  await page.keyboard.press('Enter');
  await expect(audit.openRow).toContainText(String(target.getFullYear()));
  await expect(audit.count).toHaveText(before ?? '');
});

test('selects rows by keyboard: one, a range, and all matches', async ({ page, served }) => {
  const audit = auditPage(page);
  await page.goto(`${served.address}/#/audit`);
  await audit.settled();
  await audit.list.focus();
  await page.keyboard.press('x');
  for (const position of [2, 3, 4]) {
    await page.keyboard.press('Shift+ArrowDown');
    await expect(audit.openRow).toHaveAttribute('aria-posinset', String(position));
  }
  await expect(audit.count).toHaveText('4 selected');
  await expect(audit.list.locator('[aria-selected=true]')).toHaveCount(4);
  await page.getByRole('button', { name: /^Select all/ }).click();
  await expect(audit.count).toHaveText(/^All .* selected$/);
  await page.keyboard.press('Escape');
  await expect(audit.count).toHaveText(/conversations$/);
});
