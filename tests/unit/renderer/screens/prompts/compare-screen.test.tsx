import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PromptsScreen } from '../../../../../renderer/screens/prompts/prompts-screen.tsx';
import { createPrompt, createPromptVersion, listPromptVersions } from '../../../../../shared/contract/prompts.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
beforeEach(giveEverythingSize);
afterEach(async () => {
  vi.restoreAllMocks();
  await opened.close();
});

test('a version that is compared before the list loads is next to the version before it', async () => {
  const listed = Promise.withResolvers<void>();
  opened = await openWindow(<PromptsScreen />, {
    address: '/prompts',
    prepare: async (client) => {
      const { call } = client;
      const { id } = await call(createPrompt, { body: { name: 'Reply', promptText: 'About a bicycle' } });
      await call(createPromptVersion, { parameters: { id }, body: { promptText: 'About a tricycle' } });
      client.call = (async (...[endpoint, options]: Parameters<typeof call>) => {
        if ((endpoint as unknown) === listPromptVersions) await listed.promise;
        return call(endpoint, options);
      }) as typeof call;
    },
  });
  fireEvent.click(await screen.findByRole('option', { name: /^Reply/ }));
  fireEvent.click(await screen.findByRole('radio', { name: 'Compare' }));
  await waitFor(() => expect(opened.addresses.at(-1)).toContain('/compare/'));
  listed.resolve();
  const compared = await screen.findByRole('table', { name: 'Prompt' });
  expect(compared.textContent).toContain('tricycle');
  expect(screen.getByRole('region', { name: 'Version 1 compared with version 2' })).toBeTruthy();
  // The other view shows removed lines before added ones, and is remembered.
  fireEvent.click(screen.getByRole('radio', { name: 'Unified' }));
  const unified = screen.getByRole('table', { name: 'Prompt' });
  expect(
    within(unified)
      .getAllByRole('row')
      .slice(1)
      .map(({ textContent }) => textContent),
  ).toEqual(['-1About a bicycle', '+1About a tricycle']);
  expect(localStorage.getItem('touchstone.diff-view')).toContain('unified');
  fireEvent.click(screen.getByRole('radio', { name: 'Split' }));
});

test('versions with several messages are compared message by message, with the tools that changed', async () => {
  const tool = (description: string) => ({
    type: 'function' as const,
    function: { name: 'weather', description, parameters: { type: 'object' } },
  });
  opened = await openWindow(<PromptsScreen />, {
    address: '/prompts',
    prepare: async ({ call }) => {
      const examples = '{{role "user"}}Ping{{role "model"}}Pong{{role "user"}}Ding{{role "model"}}Dong';
      const first = {
        promptText: `${examples}{{role "user"}}About {{thing}}`,
        configuration: { tools: [tool('Old')] },
      };
      const { id } = await call(createPrompt, { body: { name: 'Reply', ...first } });
      const promptText = `${examples}{{role "user"}}About a {{thing}}{{role "model"}}Well,`;
      await call(createPromptVersion, {
        parameters: { id },
        body: { promptText, configuration: { tools: [tool('New')] } },
      });
    },
  });
  fireEvent.click(await screen.findByRole('option', { name: /^Reply/ }));
  fireEvent.click(await screen.findByRole('radio', { name: 'Compare' }));
  const messages = within(await screen.findByRole('region', { name: 'Messages' }));
  messages.getByText('2 of 6 messages changed');
  fireEvent.click(messages.getByRole('button', { name: '4 unchanged messages' }));
  expect(messages.getByText('2. Assistant').closest('summary')?.textContent).toBe('2. AssistantNo changesPong');
  const changed = within(messages.getByRole('table', { name: '5. User' }));
  expect(changed.getAllByRole('row').at(-1)?.textContent).toBe('1About {{thing}}1About a {{thing}}');
  const added = messages.getByRole('region', { name: '6. Assistant' });
  expect(within(added).getByText('Added')).toBeTruthy();
  const settings = screen.getByRole('table', { name: 'Tool weather' });
  expect(settings.querySelector('ins')?.textContent).toContain('New');
});
