import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const styles = new URL('../../../renderer/styles/', import.meta.url);

test.each(['overlays.css', 'menus.css', 'toasts.css'])(
  'what floats by %s opens without an animation, whose end would be waited for before it may go',
  (name) => {
    const rules = readFileSync(new URL(name, styles), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
    expect(rules).toContain('{');
    expect(rules).not.toMatch(/animation|@keyframes/);
  },
);
