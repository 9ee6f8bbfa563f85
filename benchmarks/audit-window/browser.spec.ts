import { writeFileSync } from 'node:fs';
import { auditPage } from '../../tests/e2e/browser/audit-page.ts';
import { expect, fetchInPage, test as served } from '../../tests/support/served-window.ts';
import { goOnJourney } from './journey.ts';
import { measureKeys, measureScrolling } from './measure.ts';
import { replayModel, startReplayEndpoint } from './replay-endpoint.ts';
import { browserTracer } from './trace.ts';

const test = served.extend({
  hostOptions: async ({}, use) => {
    await using endpoint = await startReplayEndpoint();
    await use(['--data-dir', process.env['TOUCHSTONE_AUDIT_DIRECTORY']!, '--endpoint', `mill=${endpoint.baseAddress}`]);
  },
});

test('the audit in Chromium', async ({ browser, page, served: { address } }) => {
  // The endpoint's own list of models arrives shortly after the host has started.
  await expect.poll(async () => (await fetchInPage(page, 'GET', '/window/models')).text).toContain(replayModel);
  await page.goto(`${address}/#/audit`);
  await page.reload();
  await auditPage(page).settled();
  const rows = [
    ...(await measureScrolling(page, browserTracer(browser, page), 'Chromium')),
    ...(await measureKeys(page, 'Chromium')),
    ...(await goOnJourney(page, 'Chromium', replayModel)),
  ];
  writeFileSync(process.env['TOUCHSTONE_AUDIT_FIGURES']!, JSON.stringify(rows));
});
