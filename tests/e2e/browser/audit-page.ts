import { expect, type Locator, type Page } from '@playwright/test';

/** The audit as a person sees it. */
export interface AuditPage {
  readonly list: Locator;
  /** The row whose conversation is open. */
  readonly openRow: Locator;
  readonly count: Locator;
  readonly detail: Locator;
  readonly feedback: Locator;
  /** The field of the menu of filters that takes what is typed next. */
  readonly filterField: Locator;
  /** Waits until the list is there, has rows and belongs to what was asked. */
  settled(): Promise<void>;
  /** Waits until the row at this place, as `aria-posinset` has it, is open and its conversation is shown. */
  isAt(position: number | string): Promise<void>;
  /** The keys that open the screen. */
  screenKeys(): Promise<string>;
}

export function auditPage(page: Page): AuditPage {
  const list = page.getByRole('listbox', { name: 'Conversations' });
  const detail = page.getByRole('region', { name: 'Conversation', exact: true });
  const openRow = list.locator('[role=option][aria-current]');
  return {
    list,
    detail,
    openRow,
    count: page.getByRole('region', { name: 'Conversations' }).getByRole('heading', { level: 2 }),
    feedback: detail.getByRole('group', { name: /^Feedback on/ }),
    filterField: page.getByRole('dialog', { name: /^Filter/ }).getByRole('combobox'),
    async settled() {
      await list
        .and(page.locator('[aria-busy=false]'))
        .filter({ has: page.getByRole('option') })
        .waitFor();
    },
    async isAt(position) {
      await expect(openRow).toHaveAttribute('aria-posinset', String(position));
      const shown = Number(position).toLocaleString('en-GB');
      await expect(detail.getByText(new RegExp(`^${shown} of [\\d,]+$`))).toBeVisible();
    },
    screenKeys: async () =>
      String(await page.getByRole('link', { name: 'Audit', exact: true }).getAttribute('aria-keyshortcuts')),
  };
}
