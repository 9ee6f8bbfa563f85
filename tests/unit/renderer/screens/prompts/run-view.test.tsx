import { fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PromptsScreen } from '../../../../../renderer/screens/prompts/prompts-screen.tsx';
import { listPromptUsage } from '../../../../../shared/contract/prompt-library.ts';
import { createPrompt } from '../../../../../shared/contract/prompts.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { startScriptedProvider, type ScriptedProvider } from '../../../../support/scripted-provider.ts';

let opened: OpenWindow;
let provider: ScriptedProvider;

beforeEach(async () => {
  giveEverythingSize();
  provider = await startScriptedProvider();
});
afterEach(async () => {
  await opened.close();
  await provider.close();
});

test('a version with a list and an object runs with JSON values, and the run counts as its own', async () => {
  let promptId = '';
  opened = await openWindow(<PromptsScreen />, {
    address: '/prompts',
    endpoints: [{ name: 'test', baseAddress: provider.baseAddress }],
    prepare: async (client) => {
      const promptText = '{{greeting}} {{#each orders}}{{item}};{{/each}}{{#with shop}}{{name}}{{/with}}';
      const body = {
        name: 'Orders',
        promptText,
        aiSystem: 'OpenAiCompatible' as const,
        model: 'test/m',
        variables: [{ name: 'greeting', defaultValue: 'Dear' }],
      };
      promptId = (await client.call(createPrompt, { body })).id;
    },
  });
  fireEvent.click(await screen.findByRole('option', { name: /^Orders/ }));
  fireEvent.click(await screen.findByRole('radio', { name: 'Run' }));
  const field = await screen.findByRole('textbox', { name: /^orders/ });
  fireEvent.change(field, { target: { value: '[{"item": "boots"' } });
  const run = screen.getByRole('button', { name: /^Run version 1/ });
  expect([run.getAttribute('aria-disabled'), field.getAttribute('aria-invalid')]).toEqual(['true', 'true']);
  fireEvent.change(field, { target: { value: '[{"item": "boots"}, {"item": "socks"}]' } });
  fireEvent.change(screen.getByRole('textbox', { name: /^shop/ }), { target: { value: 'North' } });
  fireEvent.click(run);
  let call = await provider.nextCall();
  // The window also asks for the list of models.
  while (call.method === 'GET') call = await provider.nextCall();
  expect(call.body['messages']).toEqual([{ role: 'user', content: 'Dear boots;socks;North' }]);
  call.chatAnswer({ content: 'Two things.' });
  await screen.findByText('Two things.');
  const usage = await opened.window.host.client.call(listPromptUsage, { parameters: { id: promptId }, query: {} });
  expect(usage.data.map(({ runs }) => runs)).toEqual([1]);
});
