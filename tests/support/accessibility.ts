import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Rules whose result depends on colours: what a dark theme can break beyond the light one. */
const colorRules = ['color-contrast', 'link-in-text-block'];

/** Resolves when nothing fades in any more; what runs for ever, such as a cursor, is not waited for. */
async function resolve(page: Page): Promise<void> {
  await page.evaluate(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
    return Promise.all(ending.map((animation) => animation.finished.catch(() => {})));
  });
}

async function analyze(
  page: Page,
  part: string | undefined,
  choose: (builder: AxeBuilder) => AxeBuilder,
): Promise<string[]> {
  await resolve(page);
  // The script is large; a page that has it already isn't sent it again.
  const isLoaded = await page.evaluate(() => 'axe' in globalThis);
  // Without the legacy mode axe ends in a page of its own, which takes the focus from ours: a key pressed next is lost.
  const builder = new AxeBuilder({ page, ...(isLoaded && { axeSource: ';' }) })
    .setLegacyMode()
    // Neither what passed nor the style sheets, which only rules about media read, are needed.
    .options({ resultTypes: ['violations'], preload: false })
    // The rows of a long list look alike.
    .exclude('[role=option]:nth-of-type(n + 30)');
  const { violations } = await choose(part === undefined ? builder : builder.include(part)).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/**
 * What axe finds against WCAG 2.2 A and AA and its best practices in the light theme, and wrong with the colours of the dark
 * theme, each finding as one line. Leaves the page light. A selector limits it to a part of the page.
 */
export async function accessibilityFindings(page: Page, part?: string): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await analyze(page, part, (builder) => builder.withRules(colorRules));
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await analyze(page, part, (builder) => builder.withTags(tags));
  return [...light.map((finding) => `light: ${finding}`), ...dark.map((finding) => `dark: ${finding}`)];
}
