import { scan, observe, walkEverywhere, walkTimeout } from '../../support/random-walk.ts';
import { expect, test } from './tour-window.ts';

// A recording of every action would take longer than the actions.
test.use({ contextOptions: { reducedMotion: 'reduce' }, trace: 'off' });
test.setTimeout(walkTimeout);

test('random actions on every screen end without a crash or an error', async ({ page, call }) => {
  expect(await walkEverywhere(page, call, 20)).toEqual({});
});

test('a walk detects crashes, exceptions, rejections, console errors and errors of the host', async ({ page }) => {
  const problems = await observe(page);
  await page.route(/\/assets\/moderation-screen/, (route) => route.fulfill({ status: 404, json: {} }));
  await page.route('**/window/runs*', (route) => route.fulfill({ status: 500, json: {} }));
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect((await scan(page)).crashes).toEqual([]);
  await page.getByRole('link', { name: 'Moderation' }).click();
  await expect.poll(async () => (await scan(page)).crashes).toEqual([expect.stringContaining("Couldn't load")]);
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error('An exception');
    });
    void Promise.reject(new Error('A rejection'));
    console.error('A line on the console');
    void fetch('/window/runs');
  });
  for (const problem of ['An exception', 'A rejection', 'A line on the console', 'responded with 500'])
    await expect.poll(() => problems.join('\n')).toContain(problem);
});
