import { readFileSync } from 'node:fs';
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

/** A second of silence. */
function recording(): Buffer {
  const bytes = Buffer.alloc(44 + 8_000);
  bytes.write('RIFF\0\0\0\0WAVEfmt ', 0, 'latin1');
  bytes.writeUInt32LE(36 + 8_000, 4);
  for (const [value, offset] of [
    [16, 16],
    [8_000, 24],
    [8_000, 28],
    [8_000, 40],
  ] as const)
    bytes.writeUInt32LE(value, offset);
  for (const [value, offset] of [
    [1, 20],
    [1, 22],
    [1, 32],
    [8, 34],
  ] as const)
    bytes.writeUInt16LE(value, offset);
  bytes.write('data', 36);
  return bytes;
}

test('a recording and a PDF are dropped, and a run sends the audio and chosen pages as images', async ({
  page,
  playground,
  nextRun,
}) => {
  await playground.chooseModel('kestrel-large');
  await playground.writePrompt('{{media url=call}}{{media url=contract}}');
  const fieldOf = (name: string) =>
    page.getByRole('region', { name: 'Variables' }).getByRole('group', { name, exact: true });
  const wav = { name: 'call.wav', type: 'audio/wav', bytes: recording() };
  await giveFile(fieldOf('call').locator('.file-field'), 'drop', wav);
  await expect(fieldOf('call').getByText(/^WAV, 8 KB/)).toBeVisible();
  const bytes = readFileSync('tests/fixtures/knowledge/report.pdf');
  const pdf = { name: 'contract.pdf', type: 'application/pdf', bytes };
  await giveFile(fieldOf('contract').locator('.file-field'), 'drop', pdf);
  await fieldOf('contract').getByRole('radio', { name: 'Pages' }).click();
  const range = fieldOf('contract').getByRole('textbox', { name: 'Pages' });
  await range.fill('9');
  await expect(fieldOf('contract').getByText('Names page 9, and the PDF has 3')).toBeVisible();
  await range.fill('2-3');
  const call = nextRun();
  await playground.run();
  const [message] = (await call).body['messages'] as { content: { type: string }[] }[];
  expect(message!.content.map(({ type }) => type)).toEqual(['input_audio', 'image_url', 'image_url']);
});
