import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { nodeOptions } from '../../support/node-options.ts';

const modules = ['create-host.ts', 'server/listen.ts'];

const electron = new URL('../../../electron/', import.meta.url).href;
const loadHost = `for (const name of ${JSON.stringify(modules)}) await import(new URL(name, ${JSON.stringify(electron)}));`;

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
  ${loadHost}
  console.log('loaded');
`;

function printed(code: string): string {
  return execFileSync(process.execPath, [...nodeOptions, '--input-type=module', '--eval', code], { encoding: 'utf8' });
}

test('the host loads no data about languages while it starts', () => {
  expect(printed(program)).toBe('loaded\n');
});

test("the host doesn't load Node's undici while it starts", () => {
  const loaded = `process.moduleLoadList.some((name) => name.includes('undici'))`;
  expect(printed(`${loadHost} console.log(${loaded}); Response; console.log(${loaded});`)).toBe('false\ntrue\n');
});
