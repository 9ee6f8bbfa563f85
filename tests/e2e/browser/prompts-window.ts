import type { Agent, AgentInput } from '../../../shared/contract/agents.ts';
import type { Prompt, PromptInput, PromptVersion, PromptVersionInput } from '../../../shared/contract/prompts.ts';
import { fetchInPage } from '../../support/served-window.ts';
import { test as base } from './playground-window.ts';

/** Makes what a test begins with, through the endpoints that the window itself calls, with the page's own session. */
export interface Library {
  prompt(input: PromptInput): Promise<Prompt>;
  version(promptId: string, input: PromptVersionInput): Promise<PromptVersion>;
  agent(input: AgentInput): Promise<Agent>;
  /** What the host answers to a request for this path. */
  status(path: string): Promise<number>;
  /** Shows an address of the window as a fresh page has it. */
  open(address: string): Promise<void>;
}

/** The model that the scripted provider answers. */
export const kestrel = { aiSystem: 'OpenAiCompatible', model: 'workshop/kestrel-large' } as const;

export const test = base.extend<{ library: Library }>({
  library: async ({ page, served, playground: _playground }, use) => {
    const post = async <Made>(path: string, body: unknown): Promise<Made> => {
      const { status, text } = await fetchInPage(page, 'POST', path, body);
      if (status !== 201) throw new Error(text);
      return JSON.parse(text) as Made;
    };
    await use({
      prompt: (input) => post('/prompts', input),
      version: (promptId, input) => post(`/prompts/${promptId}/versions`, input),
      agent: (input) => post('/agents', input),
      status: async (path) => (await fetchInPage(page, 'GET', path)).status,
      open: async (address) => {
        await page.goto(`${served.address}/#${address}`);
        await page.reload();
        // Keys that are pressed before the window is drawn are nobody's.
        await page.getByRole('navigation', { name: 'Screens' }).waitFor();
      },
    });
  },
});

export { expect } from '@playwright/test';
