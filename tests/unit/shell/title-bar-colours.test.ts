import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { titleBarColours, titleBarHeight } from '../../../electron/shell/window-frame.ts';

const tokens = readFileSync(join(import.meta.dirname, '../../../renderer/styles/tokens.css'), 'utf8');

test("the system's buttons have the colours and the height of the window's title bar", () => {
  const { light, dark } = titleBarColours;
  expect(tokens).toContain(`--surface-chrome: light-dark(${light.color}, ${dark.color});`);
  expect(tokens).toContain(`--text-secondary: light-dark(${light.symbolColor}, ${dark.symbolColor});`);
  expect(tokens).toContain(`--size-titlebar: ${titleBarHeight + 1}px;`);
});
