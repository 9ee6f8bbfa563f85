import { writeFileSync } from 'node:fs';
import { auditPage } from '../../tests/e2e/browser/audit-page.ts';
import { callHost, expect, test } from '../../tests/support/electron.ts';
import { goOnJourney } from './journey.ts';
import { measureKeys, measureScrolling } from './measure.ts';
import { replayModel, startReplayEndpoint } from './replay-endpoint.ts';
import { desktopTracer } from './trace.ts';

test('the audit on the desktop', async ({ launch }) => {
  await using endpoint = await startReplayEndpoint();
  const { app, page } = await launch({
    dataDirectory: process.env['TOUCHSTONE_AUDIT_DIRECTORY']!,
    parameters: ['--endpoint', `mill=${endpoint.baseAddress}`],
  });
  const audit = auditPage(page);
  await expect(page.getByRole('navigation', { name: 'Screens' })).toBeVisible();
  await expect.poll(async () => JSON.stringify(await callHost(page, 'GET', '/window/models'))).toContain(replayModel);
  await page.keyboard.press(await audit.screenKeys());
  await audit.settled();
  const rows = [
    ...(await measureScrolling(page, desktopTracer(app), 'Electron')),
    ...(await measureKeys(page, 'Electron')),
    ...(await goOnJourney(page, 'Electron', replayModel)),
  ];
  writeFileSync(process.env['TOUCHSTONE_AUDIT_FIGURES']!, JSON.stringify(rows));
});
