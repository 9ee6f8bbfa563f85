import { type Page } from '@playwright/test';
import type { TourObjects } from '../window-tour.ts';
import { broken, callHost, held, kestrel, type PictureState } from './steps.ts';

export function agentStates({ agentId, conversationId, dataspaceId }: TourObjects): readonly PictureState[] {
  const sendMessage = async (page: Page, message: string, until: RegExp) => {
    await page.getByRole('textbox', { name: /^Message/ }).fill(message);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Turns' }).getByText(until).last().waitFor();
  };
  const talk = (message: string, until: RegExp) => (page: Page) => sendMessage(page, message, until);
  return [
    { name: 'agents-none-selected', address: '/agents' },
    { name: 'agents-new', address: '/agents/new' },
    {
      name: 'agents-new-empty-name',
      address: '/agents/new',
      enter: async (page) => {
        await page.locator('form').getByRole('button', { name: 'Create agent' }).click();
      },
    },
    {
      name: 'agents-new-filled',
      address: '/agents/new',
      enter: async (page) => {
        await page.getByLabel('Name', { exact: true }).fill('Assay desk');
        await page.getByLabel('Prompt', { exact: true }).fill('You answer {{customer}} about opening hours.');
        await page.locator('summary', { hasText: 'Parameters' }).click();
        await page.getByLabel('temperature', { exact: true }).fill('9');
        await page.locator('form').getByRole('button', { name: 'Create agent' }).click();
      },
    },
    {
      name: 'agents-new-base',
      address: '/agents/new',
      enter: async (page) => {
        await page
          .locator('form')
          .getByRole('combobox')
          .first()
          .click()
          .catch(() => {});
      },
    },
    { name: 'agents-edit', address: `/agents/${agentId}/${conversationId}/edit` },
    {
      name: 'agents-long',
      address: '/agents',
      enter: async (page) => {
        const agent = await callHost(page, 'POST', '/agents', {
          name: 'Customer care of the workshop in town, night shift and weekends',
          prompt: 'You answer questions.\n'.repeat(20),
          ...kestrel,
          dataspaceIds: [dataspaceId],
          configuration: { temperature: 0.3, max_tokens: 400, stop: ['END', 'STOP'] },
        });
        await page.evaluate((id) => (location.hash = `/agents/${id}`), agent['id']);
        await page.reload();
        await page.getByRole('textbox', { name: /^Message/ }).waitFor();
      },
    },
    {
      name: 'agents-talk',
      address: `/agents/${agentId}`,
      enter: async (page) => {
        await talk('When are you open? Please think first.', /Complete/)(page);
        await talk(
          'And on Fridays? This is a question that goes over more than one line, because the person who writes it explains why the answer matters to them.',
          /Complete/,
        )(page);
      },
    },
    {
      name: 'agents-grounded',
      address: '/agents',
      enter: async (page) => {
        const agent = await callHost(page, 'POST', '/agents', {
          name: 'Assay desk',
          prompt: 'You answer questions.',
          ...kestrel,
          dataspaceIds: [dataspaceId],
        });
        await page.evaluate((id) => (location.hash = `/agents/${id}`), agent['id']);
        await page.reload();
        await page.getByRole('textbox', { name: /^Message/ }).waitFor();
        await talk('When are pieces taken in?', /Complete/)(page);
      },
    },
    {
      name: 'agents-edit-message',
      address: `/agents/${agentId}/${conversationId}`,
      enter: async (page) => {
        await page.getByRole('button', { name: 'Edit and branch' }).first().click();
      },
    },
    {
      name: 'agents-branch',
      address: `/agents/${agentId}/${conversationId}`,
      enter: async (page) => {
        await page.getByRole('button', { name: 'Edit and branch' }).first().click();
        await page.keyboard.insertText(' And where?');
        await page.keyboard.press('Enter');
        await page.getByRole('group', { name: 'Branches' }).waitFor();
      },
    },
    {
      name: 'agents-answering',
      address: `/agents/${agentId}`,
      enter: talk('This never ends', /Streaming/),
      leave: (page) => page.keyboard.press('Escape'),
    },
    {
      name: 'agents-stopped',
      address: `/agents/${agentId}`,
      enter: async (page) => {
        await talk('This never ends', /Streaming/)(page);
        await page.keyboard.press('Escape');
        await page.getByText('Stopped. Partial').waitFor();
      },
    },
    { name: 'agents-failed', address: `/agents/${agentId}`, enter: talk('There are too many requests', /Failed/) },
    { name: 'agents-key', address: `/agents/${agentId}`, enter: talk('This has a wrong key', /Failed/) },
    {
      name: 'agents-menu',
      address: `/agents/${agentId}/${conversationId}`,
      enter: async (page) => {
        await page.getByRole('button', { name: /^More for/ }).click();
      },
    },
    {
      name: 'agents-side-narrow',
      address: `/agents/${agentId}/${conversationId}`,
      enter: async (page) => {
        await page.setViewportSize({ width: 640, height: 400 });
        await page.getByRole('button', { name: 'Agent and conversations' }).click();
      },
    },
    { name: 'agents-search-none', address: '/agents', enter: (page) => page.getByLabel('Search agents').fill('zebra') },
    { name: 'agents-not-found', address: '/agents/00000000-0000-4000-8000-000000000000' },
    { name: 'agents-conversation-not-found', address: `/agents/${agentId}/00000000-0000-4000-8000-000000000000` },
    { name: 'agents-error', address: '/agents', ...broken(/\/agents\?/) },
    { name: 'agents-loading', address: '/agents', ...held(/\/agents\?/) },
  ];
}
