import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callHost, expect, test } from '../../support/electron.ts';
import { followReviewJourney } from '../../support/review-journey.ts';

test('on the desktop two people review a queue with keys alone, and their disagreements are decided', async ({
  folder,
  launch,
}) => {
  const { app, page } = await launch({ dataDirectory: join(folder, 'data') });
  const file = join(folder, 'reviews.csv');
  await app.evaluate(({ session }, path) => {
    session.defaultSession.once('will-download', (_event, item) => {
      item.setSavePath(`${path}.part`);
      // The file is there before its content.
      item.once('done', () => process.getBuiltinModule('node:fs').renameSync(`${path}.part`, path));
    });
  }, file);
  await followReviewJourney({
    page,
    call: (...request) => callHost(page, ...request),
    readDownload: async (action) => {
      await action();
      await expect.poll(() => existsSync(file)).toBe(true);
      return readFileSync(file, 'utf8');
    },
  });
});
