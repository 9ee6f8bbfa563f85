import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, packageParameters } from '../../support/electron.ts';
import { packagedProgram, test } from '../../support/packaged-app.ts';

test('previews a prompt file that is opened with Touchstone, at the first start and while it runs', async ({
  environment,
  folder,
  launch,
}) => {
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const dataDirectory = join(folder, 'data');
  const first = write(
    'greeting.prompt',
    '---\nname: greeting\nmodel: googleai/gemini-2.5-flash\n---\nGreet {{name}}.\n',
  );
  const { page } = await launch({ dataDirectory, parameters: [first] });
  const dialog = page.getByRole('dialog', { name: 'Import prompts' });
  await expect(dialog.getByText('Greet {{name}}.')).toBeVisible();
  await expect(page.getByText('No prompts yet')).toBeAttached();
  await dialog.getByRole('button', { name: 'Import 1 prompt' }).click();
  await expect(page.getByRole('option', { name: /^greeting/ })).toBeVisible();

  const second = write('second file.prompt', 'Say goodbye to {{name}}.\n');
  const parameters = packageParameters({
    dataDirectory,
    parameters: [pathToFileURL(second).href, 'missing.prompt'],
  });
  // File managers give addresses; a relative path is one of the folder where the command was given.
  await promisify(execFile)(packagedProgram, parameters, { env: environment, cwd: folder });
  await expect(dialog.getByText('Say goodbye to {{name}}.')).toBeVisible();
  await expect(dialog.getByRole('alert')).toHaveText(`Couldn't open "missing.prompt". The file doesn't exist.`);
  await dialog.getByRole('button', { name: 'Back' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('option', { name: /^greeting/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /second/ })).toBeHidden();
  expect(readFileSync(second, 'utf8')).toBe('Say goodbye to {{name}}.\n');
});
