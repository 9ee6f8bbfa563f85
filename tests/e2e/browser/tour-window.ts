import { startScriptedProvider } from '../../support/scripted-provider.ts';
import { test as base } from '../../support/served-window.ts';
import { answerEverything, fillHost, type CallHost, type TourObjects } from '../../support/window-tour.ts';

interface TourFixtures {
  /** A host with data for every screen. */
  objects: TourObjects;
}

/** Tests that go through all screens, with a provider that responds to everything. */
export const test = base.extend<TourFixtures>({
  hostOptions: async ({}, use) => {
    await using provider = await startScriptedProvider(answerEverything);
    await use(['--endpoint', `workshop=${provider.baseAddress}`]);
  },
  objects: async ({ page }, use) => {
    const call: CallHost = (method, path, body) =>
      page.evaluate(
        async ([how, where, text]) => {
          const headers = { 'content-type': 'application/json' };
          const response = await fetch(where, { method: how, headers, ...(text !== null && { body: text }) });
          const json = await response.text();
          if (!response.ok) throw new Error(`${how} ${where}: ${json}`);
          return json === '' ? null : (JSON.parse(json) as unknown);
        },
        [method, path, body === undefined ? null : JSON.stringify(body)] as const,
      );
    await page.getByRole('navigation').first().waitFor();
    await use(await fillHost(page, call));
  },
});

export { expect } from '@playwright/test';
