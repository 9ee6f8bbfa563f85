import { accessibilityFindings } from '../../support/accessibility.ts';
import { followFilesJourney, giveFile, photo } from '../../support/files-journey.ts';
import { pngOf } from '../../support/image-files.ts';
import { expect, test } from './playground-window.ts';

test('a photo is dropped and described, and the audit has it', async ({ page, playground, nextRun, pageProblems }) => {
  await followFilesJourney({
    page,
    model: 'kestrel-large',
    chooseModel: (words) => playground.chooseModel(words),
    writePrompt: (text) => playground.writePrompt(text),
    nextRun,
  });
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(pageProblems).toEqual([]);
});

test('a file is pasted, kept after a reload, replaced by a smaller version and removed', async ({
  page,
  playground,
}) => {
  await playground.writePrompt('{{media url=photo}}');
  const field = page.getByRole('region', { name: 'Variables' }).getByRole('group', { name: 'photo', exact: true });
  const size = { width: 2000, height: 1500 };
  const base64 = await page.evaluate(async ({ width, height }) => {
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext('2d')!.fillRect(0, 0, width, height);
    const blob = await canvas.convertToBlob({ type: 'image/jpeg' });
    return btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
  }, size);
  const large = { name: 'large.jpg', type: 'image/jpeg', bytes: Buffer.from(base64, 'base64') };
  await giveFile(field.getByRole('button', { name: 'Choose file' }), 'paste', large);
  await expect(field.getByText('2,000 × 1,500 px')).toBeVisible();
  await playground.written();
  await page.reload();
  await expect(field.getByText('2,000 × 1,500 px')).toBeVisible();
  await field.getByRole('button', { name: 'Smaller version of large.jpg' }).click();
  await expect(field.getByText(/2,000 × 1,500 px becomes JPEG, .* 1,568 × 1,176 px/)).toBeVisible();
  await field.getByRole('button', { name: 'Use smaller version' }).click();
  await expect(field.getByText(/^JPEG, .* 1,568 × 1,176 px/)).toBeVisible();
  await field.getByRole('button', { name: 'Remove large.jpg' }).click();
  await expect(field.getByRole('button', { name: 'Choose file' })).toBeVisible();
});

test('models that do not take a file are grey with the reason, and a field that needs a file holds the run', async ({
  page,
  playground,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('{{media url=photo}}');
  const field = page.getByRole('region', { name: 'Variables' }).getByRole('group', { name: 'photo', exact: true });
  await playground.run();
  await page.getByText('photo: add a file').click();
  await expect(field.getByRole('button', { name: 'Choose file' })).toBeFocused();
  await field
    .getByLabel('File for photo')
    .setInputFiles({ name: photo.name, mimeType: photo.type, buffer: photo.bytes });
  await expect(field.getByRole('group', { name: photo.name })).toBeVisible();
  await page.keyboard.press('Control+l');
  const picker = page.getByRole('dialog', { name: 'Choose model' });
  await picker.getByRole('combobox', { name: 'Search models' }).fill('hl-gpt-4.1-mini');
  await expect(picker.getByRole('option').first()).toContainText("Doesn't support images");
});

test('a list takes several files, and a rejected file says why', async ({ page, playground }) => {
  await playground.writePrompt('{{#each photos}}{{media url=this}}{{/each}}');
  const field = page.getByRole('region', { name: 'Variables' }).getByRole('group', { name: 'photos', exact: true });
  const input = field.getByLabel('File for photos');
  const other = { name: 'rim.png', mimeType: 'image/png', buffer: pngOf({ width: 41 }) };
  await input.setInputFiles([{ name: photo.name, mimeType: photo.type, buffer: photo.bytes }, other]);
  await expect(field.getByText(/40 × 30 px/)).toBeVisible();
  await expect(field.getByText(/41 × 3 px/)).toBeVisible();
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
  await input.setInputFiles({ name: 'drawing.svg', mimeType: 'image/svg+xml', buffer: drawing });
  await expect(field.getByRole('alert')).toContainText('an SVG image');
  await field.getByRole('button', { name: 'Dismiss drawing.svg' }).click();
  await field.getByRole('button', { name: `Remove ${photo.name}` }).click();
  await expect(field.getByText(/40 × 30 px/)).toBeHidden();
  await expect(field.getByText(/41 × 3 px/)).toBeVisible();
});
