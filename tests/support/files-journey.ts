import { expect, type Locator, type Page } from '@playwright/test';
import { exifOf, pngOf } from './image-files.ts';
import type { ScriptedCall } from './scripted-provider.ts';

interface FilesJourney {
  readonly page: Page;
  readonly model: string;
  chooseModel(words: string): Promise<void>;
  writePrompt(text: string): Promise<void>;
  nextRun(): Promise<ScriptedCall>;
}

/** Drops or pastes a file as a browser does after a person has. */
export async function giveFile(
  target: Locator,
  action: 'drop' | 'paste',
  { name, type, bytes }: { name: string; type: string; bytes: Buffer },
): Promise<void> {
  const given = { action, name, type, base64: bytes.toString('base64') };
  await target.evaluate((element, { action: kind, base64, ...file }) => {
    const data = new DataTransfer();
    const content = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    data.items.add(new File([content], file.name, { type: file.type }));
    const options = { bubbles: true, cancelable: true };
    element.dispatchEvent(
      kind === 'drop'
        ? new DragEvent('drop', { ...options, dataTransfer: data })
        : new ClipboardEvent('paste', { ...options, clipboardData: data }),
    );
  }, given);
}

/** A photo that was taken somewhere. */
export const photo = {
  name: 'fork-crown.png',
  type: 'image/png',
  bytes: pngOf({ width: 40, height: 30, extra: [['eXIf', exifOf(1)]] }),
};

/** From a dropped photo to an answer about it, and to the audit, which has the photo. */
export async function followFilesJourney({
  page,
  model,
  chooseModel,
  writePrompt,
  nextRun,
}: FilesJourney): Promise<void> {
  await expect(page.getByRole('textbox', { name: 'Prompt, Handlebars' })).toBeVisible();
  await chooseModel(model);
  await writePrompt('What is broken here? {{media url=photo}}');
  const field = page.getByRole('region', { name: 'Variables' }).getByRole('group', { name: 'photo', exact: true });
  await expect(field.getByRole('button', { name: 'Choose file' })).toBeVisible();
  await giveFile(field.locator('.file-field'), 'drop', photo);
  const chip = field.getByRole('group', { name: photo.name });
  await expect(chip).toContainText('40 × 30 px');
  await expect(chip).toContainText('Location data removed');
  await expect(chip.getByRole('img', { name: `Preview of ${photo.name}` })).toBeVisible();
  await page.getByRole('radio', { name: 'Rendered', exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Rendered prompt' }).locator('.sent-label--file')).toContainText(
    photo.name,
  );
  await page.getByRole('radio', { name: 'Template', exact: true }).click();
  const next = nextRun();
  await page.keyboard.press('Control+Enter');
  const call = await next;
  const [message] = call.body['messages'] as [{ content: [object, { image_url: { url: string } }] }];
  const [prefix, base64] = message.content[1].image_url.url.split(',') as [string, string];
  expect(prefix).toBe('data:image/png;base64');
  expect(Buffer.from(base64, 'base64').includes('GPS')).toBe(false);
  await call.chatStream(['The fork crown.']);
  await expect(page.getByRole('region', { name: 'Answer', exact: true }).getByText(/^Complete/)).toBeVisible();
  await page.getByRole('link', { name: 'Audit' }).click();
  const sent = page.getByRole('region', { name: 'Text of the run' }).getByRole('group', { name: photo.name });
  await expect(sent.getByRole('button', { name: `Save ${photo.name}` })).toBeVisible();
  await page.getByRole('link', { name: 'Playground' }).click();
  await expect(chip).toBeVisible();
}
