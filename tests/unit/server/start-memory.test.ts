import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { nodeOptions } from '../../support/node-options.ts';

const modules = ['create-host.ts', 'server/listen.ts'];

/** Prints each use of `Intl` while the modules of the host load. */
const program = `
  const note = (name) => console.log(name);
  for (const name of ['Collator', 'DateTimeFormat', 'NumberFormat', 'PluralRules', 'Segmenter']) {
    Intl[name] = new Proxy(Intl[name], {
      construct: (type, parameters) => (note(name), new type(...parameters)),
      apply: (type, _, parameters) => (note(name), type(...parameters)),
    });
  }
  for (const { prototype } of [Number, Date, String]) {
    for (const name of ['localeCompare', 'normalize', 'toLocaleString', 'toLocaleLowerCase', 'toLocaleUpperCase']) {
      const own = prototype[name];
      if (own) prototype[name] = function (...parameters) { note(name); return own.apply(this, parameters); };
    }
  }
  for (const name of ${JSON.stringify(modules)}) await import(new URL(name, ${JSON.stringify(new URL('../../../electron/', import.meta.url))}));
  console.log('loaded');
`;

test('the host loads no data about languages while it starts', () => {
  const printed = execFileSync(process.execPath, [...nodeOptions, '--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(printed).toBe('loaded\n');
});
