import type { Locator, Page } from '@playwright/test';

/** The audit as a person sees it. */
export interface AuditPage {
  readonly list: Locator;
  /** The row whose conversation is open. */
  readonly openRow: Locator;
  readonly count: Locator;
  readonly detail: Locator;
  readonly feedback: Locator;
  /** Waits until the list is there and belongs to what was asked. */
  settled(): Promise<void>;
  /** The keys that open the screen. */
  screenKeys(): Promise<string>;
}

export function auditPage(page: Page): AuditPage {
  const list = page.getByRole('listbox', { name: 'Conversations' });
  const detail = page.getByRole('region', { name: 'Conversation', exact: true });
  return {
    list,
    detail,
    openRow: list.locator('[role=option][aria-current]'),
    count: page.getByRole('region', { name: 'Conversations' }).getByRole('heading', { level: 2 }),
    feedback: detail.getByRole('group', { name: /^Feedback on/ }),
    async settled() {
      await list.and(page.locator('[aria-busy=false]')).waitFor();
    },
    screenKeys: async () =>
      String(await page.getByRole('link', { name: 'Audit', exact: true }).getAttribute('aria-keyshortcuts')),
  };
}
