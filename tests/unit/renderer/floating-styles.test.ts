import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const styles = new URL('../../../renderer/styles/', import.meta.url);

test.each(['overlays.css', 'menus.css', 'toasts.css'])(
  'layers of %s open without an animation, whose end would delay closing',
  (name) => {
    const rules = readFileSync(new URL(name, styles), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
    expect(rules).toContain('{');
    expect(rules).not.toMatch(/animation|@keyframes/);
  },
);
