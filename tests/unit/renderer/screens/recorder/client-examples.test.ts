import { expect, test } from 'vitest';
import { clientExamples, shells } from '../../../../../renderer/screens/recorder/client-examples.ts';

test('every copied text has the address, and reads the key from its variable', () => {
  for (const shell of shells) {
    for (const { name, text, summary } of clientExamples('http://127.0.0.1:4117', shell)) {
      expect(text, name).toContain('http://127.0.0.1:4117');
      expect(text, name).toContain('TOUCHSTONE_KEY');
      expect(summary, name).toContain('http://127.0.0.1:4117');
    }
  }
});

test('Codex gets a provider of its own, whose key it reads itself', () => {
  const { text } = clientExamples('http://127.0.0.1:4117', 'bash').find(({ name }) => name === 'Codex')!;
  expect(text.split(' -c ')).toEqual([
    'codex',
    'model_provider=touchstone',
    'model_providers.touchstone.name=Touchstone',
    'model_providers.touchstone.base_url=http://127.0.0.1:4117/openai/v1',
    'model_providers.touchstone.env_key=TOUCHSTONE_KEY',
  ]);
});

test('curl gets its JSON from the standard input in PowerShell, which would remove the quotation marks of an argument', () => {
  const { text } = clientExamples('http://127.0.0.1:4117', 'PowerShell').find(({ name }) => name === 'curl')!;
  expect(text.split(' `\n  ')).toEqual([
    `'{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello"}]}' | curl.exe http://127.0.0.1:4117/openai/v1/chat/completions`,
    '-H "Authorization: Bearer $env:TOUCHSTONE_KEY"',
    '-H "Content-Type: application/json"',
    "-d '@-'",
  ]);
});

test('LangChain is told to ask for the tokens of streams', () => {
  const { text } = clientExamples('http://127.0.0.1:4117', 'bash').find(({ name }) => name === 'LangChain')!;
  expect(text).toContain('from langchain_openai import ChatOpenAI');
  expect(text).toContain('stream_usage=True');
});
