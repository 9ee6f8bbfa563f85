import { walkEverywhere, walkLength } from '../../support/random-walk.ts';
import { expect, test } from './tour-window.ts';

test.use({ contextOptions: { reducedMotion: 'reduce' } });
test.setTimeout(180_000 + walkLength * 10_000);

test('random actions on every screen end without a crash or an error', async ({ page, objects }) => {
  expect(await walkEverywhere(page, objects)).toEqual({});
});
