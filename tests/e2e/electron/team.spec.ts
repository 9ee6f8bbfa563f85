import { join } from 'node:path';
import { expect, test } from '../../support/electron.ts';
import { obstacleToPostgres, TestPostgres } from '../../support/postgres.ts';
import { fillTeam, followTeamJourney } from '../../support/team-journey.ts';

const obstacle = obstacleToPostgres();
test.skip(obstacle !== null && process.env['TOUCHSTONE_REQUIRE_ALL_SUITES'] !== '1', obstacle ?? '');

test("on the desktop connects a team database and finds another host's run in its audit", async ({
  folder,
  launch,
}) => {
  const server = await TestPostgres.start();
  try {
    const address = await fillTeam(server);
    const { page } = await launch({ dataDirectory: join(folder, 'data') });
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('link', { name: 'Team database' }).click();
    await page.getByLabel('Address').fill(address);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await expect(page.getByRole('button', { name: 'Connect', exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await expect(page.getByRole('button', { name: 'Disconnect' })).toBeVisible();
    await followTeamJourney(page, server, address);
  } finally {
    await server.remove();
  }
});
