import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { fetchInPage, test as base } from '../../support/served-window.ts';
import {
  answerEverything,
  fillHost,
  withoutNetwork,
  type CallHost,
  type TourObjects,
} from '../../support/window-tour.ts';

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
    await use(async (method, path, body) => {
      const { status, text } = await fetchInPage(page, method, path, body);
      if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
      return text === '' ? null : (JSON.parse(text) as unknown);
    });
  },
  objects: async ({ page, call }, use) => {
    await use(await fillHost(page, call));
  },
});

export { expect } from '@playwright/test';
