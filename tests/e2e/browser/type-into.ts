import { expect, type Locator } from '@playwright/test';

/** Types into a field that the keys or the press before have opened: letters that come before it has the focus are commands. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  await expect(field).toBeFocused();
  await field.page().keyboard.type(text);
}
