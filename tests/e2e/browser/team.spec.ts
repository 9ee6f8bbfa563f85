import { accessibilityFindings } from '../../support/accessibility.ts';
import { obstacleToPostgres, TestPostgres } from '../../support/postgres.ts';
import { expect, test as served } from '../../support/served-window.ts';
import { fillTeam, followTeamJourney } from '../../support/team-journey.ts';

const test = served.extend<{ team: { server: TestPostgres; address: string } }>({
  team: async ({}, use) => {
    const server = await TestPostgres.start();
    await use({ server, address: await fillTeam(server) });
    await server.remove();
  },
  hostOptions: async ({ team }, use) => use(['--team', team.address]),
});

const obstacle = obstacleToPostgres();
test.skip(obstacle !== null && process.env['TOUCHSTONE_REQUIRE_ALL_SUITES'] !== '1', obstacle ?? '');

test("finds another host's run in the audit of the team, rates it and exports it", async ({
  page,
  team,
  pageProblems,
}) => {
  await followTeamJourney(page, team.server, team.address);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(pageProblems).toEqual([]);
});
