import type { CallHost } from '../../support/call-host.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { callInPage, test as base } from '../../support/served-window.ts';
import { answerEverything, fillHost, withoutNetwork, type TourObjects } from '../../support/window-tour.ts';

interface TourFixtures {
  /** Calls the host as the window does. */
  call: CallHost;
  /** A host with data for every screen. */
  objects: TourObjects;
}

/** Tests that go through all screens, with a provider that responds to everything. */
export const test = base.extend<TourFixtures>({
  hostOptions: async ({}, use) => {
    await using provider = await startScriptedProvider(answerEverything);
    await use(['--endpoint', `workshop=${provider.baseAddress}`]);
  },
  hostVariables: withoutNetwork,
  call: async ({ page }, use) => {
    await page.getByRole('navigation').first().waitFor();
    await use((...request) => callInPage(page, ...request));
  },
  objects: async ({ page, call }, use) => {
    await use(await fillHost(page, call));
  },
});

export { expect } from '@playwright/test';
