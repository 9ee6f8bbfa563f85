import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentsScreen } from '../../../../../renderer/screens/agents/agents-screen.tsx';
import type { Client } from '../../../../../renderer/host/client.ts';
import { rememberModel, useModelChoices } from '../../../../../renderer/stores/model-choices.ts';
import { createAgent, listAgents, type Agent } from '../../../../../shared/contract/agents.ts';
import { createDataspace } from '../../../../../shared/contract/dataspaces.ts';
import { createPrompt, createPromptVersion } from '../../../../../shared/contract/prompts.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
let promptId: string;

beforeEach(() => {
  // Lists draw the rows that their height has room for, and jsdom gives nothing a height.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  // A wide window; jsdom has no media queries.
  vi.stubGlobal('matchMedia', () => ({ matches: true, addEventListener() {}, removeEventListener() {} }));
});
afterEach(async () => {
  await opened.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function open(address: string, prepare?: (client: Client) => Promise<void>): Promise<void> {
  opened = await openWindow(<AgentsScreen />, {
    address,
    prepare: async (client) => {
      await client.call(createDataspace, { body: { name: 'Handbooks' } });
      const prompt = await client.call(createPrompt, {
        body: {
          name: 'Desk',
          promptText: 'You speak {{tone}}.',
          variables: [{ name: 'tone', defaultValue: 'plainly' }],
          configuration: { temperature: 0.4 },
        },
      });
      promptId = prompt.id;
      await prepare?.(client);
    },
  });
}

const field = (name: string) => screen.getByLabelText<HTMLInputElement | HTMLTextAreaElement>(name);
const type = (name: string, value: string) => fireEvent.change(field(name), { target: { value } });

async function agents(): Promise<Agent[]> {
  return (await opened.window.host.client.call(listAgents, { query: {} })).data;
}

test('a new agent is created from a prompt of the library, with dataspaces and parameters', async () => {
  await open('/agents/new');
  fireEvent.submit(await screen.findByRole('form', { name: 'New agent' }));
  expect(screen.getByText('Enter a name')).toBeDefined();
  type('Name', 'Workshop');
  fireEvent.click(screen.getByRole('button', { name: 'Based on: None' }));
  fireEvent.click(await screen.findByRole('option', { name: /Desk/ }));
  await waitFor(() => expect(field('Prompt').value).toBe('You speak plainly.'));
  expect(field('temperature').value).toBe('0.4');
  type('max_tokens', '0');
  fireEvent.submit(screen.getByRole('form', { name: 'New agent' }));
  expect(screen.getByText(/^max_tokens: /)).toBeDefined();
  type('max_tokens', '50');
  fireEvent.click(screen.getByRole('button', { name: /Choose dataspaces/ }));
  fireEvent.click(await screen.findByRole('checkbox', { name: 'Handbooks' }));
  fireEvent.submit(screen.getByRole('form', { name: 'New agent', hidden: true }));
  await waitFor(() => expect(opened.addresses.at(-1)).toMatch(/^\/agents\/[\da-f-]{36}$/));
  expect(await agents()).toMatchObject([
    {
      name: 'Workshop',
      prompt: 'You speak plainly.',
      configuration: { temperature: 0.4, max_tokens: 50 },
      dataspaceIds: [expect.any(String)],
      promptId,
    },
  ]);
});

test('a new agent starts with the model that was used last', async () => {
  useModelChoices.setState({ recent: [] });
  rememberModel({ aiSystem: 'Anthropic', name: 'claude-sonnet-5-5' });
  await open('/agents/new');
  expect((await screen.findByRole('button', { name: /^Model/ })).textContent).toContain('claude-sonnet-5-5');
  useModelChoices.setState({ recent: [] });
});

test('the form is beside the conversation, offers a newer base version and detaches the base', async () => {
  await open('/agents', async (client) => {
    const { id, latestVersionId } = await client.call(createPrompt, { body: { name: 'Clerk', promptText: 'First' } });
    await client.call(createAgent, { body: { name: 'A', prompt: '', promptVersionId: latestVersionId } });
    await client.call(createPromptVersion, { parameters: { id }, body: { promptText: 'Second {{x}}' } });
  });
  fireEvent.click(await screen.findByRole('option', { name: /^A/ }));
  fireEvent.click(await screen.findByRole('link', { name: 'Add one' }));
  expect(opened.addresses.at(-1)).toMatch(/^\/agents\/[\da-f-]{36}\/edit$/);
  const form = within(await screen.findByRole('form', { name: 'Edit A' }));
  expect(screen.getByRole('region', { name: 'Conversation with A' })).toBeDefined();
  await form.findByText('Edited here');
  fireEvent.click(await form.findByRole('button', { name: 'Update to version 2' }));
  await waitFor(() => expect(field('Prompt').value).toBe('Second {{x}}'));
  expect(form.queryByText('Edited here')).toBeNull();
  expect(form.getByText("Variables aren't replaced here: {{x}}")).toBeDefined();
  fireEvent.click(form.getByRole('button', { name: 'Detach' }));
  fireEvent.submit(screen.getByRole('form', { name: 'Edit A' }));
  await waitFor(() => expect(screen.queryByRole('form', { name: 'Edit A' })).toBeNull());
  expect(await agents()).toMatchObject([{ name: 'A', prompt: 'Second {{x}}', promptId: null }]);
});
