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

/** A call of the window with a body, and its answer. */
const callOverPort = `
  const { JsonResponse } = await import(new URL('api/json-response.ts', ${JSON.stringify(electron)}));
  const { servePort } = await import(new URL('ipc/serve-port.ts', ${JSON.stringify(electron)}));
  const fetch = async (request) => new JsonResponse([request.url, request.headers.get('a'), await request.json()]);
  await new Promise((resolve) => {
    const send = ({ type, chunks }) => {
      if (type === 'chunks') console.log(new TextDecoder().decode(chunks[0].bytes));
      if (type === 'end') resolve();
    };
    const frame = { type: 'request', id: 1, method: 'POST', path: '/b', headers: [['a', 'c']], body: '{}' };
    servePort({ send, receive: (listener) => listener(frame), onClose: () => {} }, { fetch });
  });
`;

test("the host doesn't load Node's undici while it starts, nor for a call of the window", () => {
  const loaded = `console.log(process.moduleLoadList.some((name) => name.includes('undici')));`;
  const lines = printed(`${loadHost} ${loaded} ${callOverPort} ${loaded} Response; ${loaded}`).trim().split('\n');
  expect(lines).toEqual(['false', '["http://window.invalid/b","c",{}]', 'false', 'true']);
});
