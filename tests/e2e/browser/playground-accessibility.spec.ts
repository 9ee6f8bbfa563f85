import { accessibilityFindings } from '../../support/accessibility.ts';
import { expect, test } from './playground-window.ts';

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in the ${colorScheme} theme axe finds nothing`, () => {
    test.use({ colorScheme, contextOptions: { reducedMotion: 'reduce' } });

    test('on a first start and in the model picker', async ({ page, playground }) => {
      await expect(playground.answer.getByRole('button', { name: 'Download' })).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Control+l');
      await expect(page.getByRole('option').first()).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
    });

    test('with a finished run, the wire open, a mistake and an unfilled field', async ({
      page,
      playground,
      nextRun,
    }) => {
      await playground.chooseModel('kestrel-large');
      await playground.writePrompt('{{! note }}{{#each orders}}{{id}}{{/each}} {{tone}}');
      await playground.variable('orders').fill('[{"id": 1}]');
      await page.getByRole('button', { name: 'System message' }).click();
      const call = nextRun();
      await playground.run();
      await (
        await call
      ).chatStream(['# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n', '```ts\nlet a = 1;\n```\n\n- item\n', '> said'], {
        finishReason: 'length',
      });
      await expect(playground.answer.getByText(/^Complete/)).toBeVisible();
      await page.keyboard.press('Control+j');
      expect(await accessibilityFindings(page)).toEqual([]);
      await playground.variable('orders').fill('[{"id"');
      await playground.writePrompt('{{#each orders}} {{/if}}');
      await expect(page.getByRole('button', { name: /^1:\d+ / })).toBeVisible();
      expect(await accessibilityFindings(page)).toEqual([]);
    });

    test('in a narrow window with the parameters and the history open', async ({ page, playground, nextRun }) => {
      await page.setViewportSize({ width: 980, height: 700 });
      await playground.chooseModel('kestrel-small');
      await playground.writePrompt('Say something');
      const call = nextRun();
      await playground.run();
      (await call).fail(500, 'It broke');
      await expect(playground.answer.getByRole('alert')).toBeVisible();
      await page.getByRole('button', { name: 'Parameters' }).click();
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'History' }).click();
      await expect(page.getByRole('option')).toHaveCount(1);
      expect(await accessibilityFindings(page)).toEqual([]);
    });
  });
}
