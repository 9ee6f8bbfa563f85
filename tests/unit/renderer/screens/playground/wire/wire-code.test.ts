// @module-tag slow
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { encodeEvent } from '../../../../../../shared/event-stream.ts';
import type { CompletionRequest } from '../../../../../../shared/contract/completions.ts';
import {
  type CodeLanguage,
  codeLanguages,
  codeOf,
  transports,
} from '../../../../../../renderer/screens/playground/wire/wire-code.ts';

const run = promisify(execFile);
const answer = 'It\'s "fine"\nhere: ü 😀';

/** Everything that quoting could break in a shell, in JavaScript or in Python. */
const request: CompletionRequest = {
  promptText: `It's "quoted" $HOME \`id\` \\n {{x}}\n'''triple''' ${'${y}'} \u2028 ü 😀`,
  systemMessage: "don't",
  aiSystem: 'OpenAi',
  model: 'gpt-test',
  configuration: { temperature: 0.2, stop: ['\n', "'"], extra: null, flag: true },
  replacements: { list: [], object: {}, 'a"b': "c'd" },
};

const parts = [...answer].map((content) => ({ choice: { index: 0, message: { role: 'assistant', content } } }));
const last = { choice: { index: 0, finish_reason: 'Stop', message: { role: 'assistant' } } };
const bodies: Record<string, string> = {
  [transports.sync.path]: JSON.stringify({ choices: [{ message: { content: answer } }] }),
  [transports.sse.path]: [...parts, last].map((value) => encodeEvent(value)).join(''),
  [transports['json-array'].path]: `[${[...parts, last].map((part) => JSON.stringify(part)).join(',\n')}]`,
};

let received: { path: string; authorization: string | undefined; body: unknown }[] = [];
const server = createServer(async (incoming, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const path = incoming.url ?? '';
  const { authorization } = incoming.headers;
  received.push({ path, authorization, body: JSON.parse(Buffer.concat(pieces).toString()) });
  const body =
    authorization === 'Bearer ts_good' ? bodies[path] : JSON.stringify({ error: { message: 'The key is wrong.' } });
  response.writeHead(authorization === 'Bearer ts_good' ? 200 : 401).end(body);
});
let address = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

async function execute(language: CodeLanguage, code: string, key: string): Promise<{ stdout: string; stderr: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-code-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [program, name] = {
    curl: ['bash', 'call.sh'],
    TypeScript: [process.execPath, 'call.mts'],
    Python: ['python3', 'call.py'],
  }[language] as [string, string];
  writeFileSync(join(folder, name), code);
  return run(program, [join(folder, name)], { env: { ...process.env, TOUCHSTONE_API_KEY: key } });
}

describe.each(codeLanguages)('%s', (language) => {
  test.each(['sync', 'json-array', 'sse'] as const)(
    'makes the call and prints the answer, in the form %s',
    async (transport) => {
      received = [];
      const { stdout } = await execute(language, codeOf(language, { address, transport, request }), 'ts_good');
      const expected = language === 'curl' ? bodies[transports[transport].path] : `${answer}\n`;
      expect({ received, stdout }).toEqual({
        received: [{ path: transports[transport].path, authorization: 'Bearer ts_good', body: request }],
        stdout: expected,
      });
    },
  );
});

test.each(['TypeScript', 'Python'] as const)('%s says what the service said about a failure', async (language) => {
  const code = codeOf(language, { address, transport: 'sse', request });
  await expect(execute(language, code, 'ts_bad')).rejects.toThrow('The key is wrong.');
});

test('no code contains a key', () => {
  const codes = codeLanguages.map((language) => codeOf(language, { address, transport: 'sync', request }));
  expect(codes.every((code) => code.includes('TOUCHSTONE_API_KEY') && !code.includes('ts_'))).toBe(true);
});
