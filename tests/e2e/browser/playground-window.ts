import type { Locator, Page } from '@playwright/test';
import { startScriptedProvider, type ScriptedCall, type ScriptedProvider } from '../../support/scripted-provider.ts';
import { test as base } from '../../support/served-window.ts';

/** The playground as a person sees it. */
export class PlaygroundPage {
  readonly page: Page;
  readonly prompt: Locator;
  readonly answer: Locator;
  readonly history: Locator;
  readonly wire: Locator;

  constructor(page: Page) {
    this.page = page;
    this.prompt = page.getByRole('textbox', { name: 'Prompt, Handlebars' });
    this.answer = page.getByRole('region', { name: 'Answer', exact: true });
    this.history = page.getByRole('region', { name: 'History' });
    this.wire = page.getByRole('region', { name: 'Wire' });
  }

  variable(name: string): Locator {
    return this.page.getByRole('region', { name: 'Variables' }).getByLabel(name, { exact: true });
  }

  /** Replaces the whole template, as someone does who pastes one. */
  async writePrompt(text: string): Promise<void> {
    await this.prompt.click();
    await this.page.keyboard.press('Control+a');
    await this.page.keyboard.insertText(text);
  }

  async chooseModel(words: string): Promise<void> {
    const picker = this.page.getByRole('dialog', { name: 'Choose model' });
    await this.page.keyboard.press('Control+l');
    await picker.getByRole('combobox', { name: 'Search models' }).fill(words);
    // Before the endpoint has told its models the words find none, or another one.
    await picker
      .getByRole('option', { name: new RegExp(words) })
      .and(picker.locator('[aria-selected=true]'))
      .waitFor();
    await this.page.keyboard.press('Enter');
    await picker.waitFor({ state: 'hidden' });
  }

  /**
   * Waits until every draft is on the disk: what is read now comes after what is being written. Changes during a write share the next
   * one, which begins when that one ends, so what is read after that comes after both.
   */
  async written(): Promise<void> {
    for (const _write of ['current', 'next']) await this.#afterWrite();
  }

  async #afterWrite(): Promise<void> {
    await this.page.evaluate(async () => {
      const ended = (request: IDBRequest) =>
        new Promise((resolve, reject) => {
          request.onsuccess = resolve;
          request.onerror = reject;
        });
      for (const { name } of await indexedDB.databases()) {
        const opening = indexedDB.open(name ?? '');
        await ended(opening);
        const { result: database } = opening;
        const stores = [...database.objectStoreNames];
        await Promise.all(stores.map((store) => ended(database.transaction(stores).objectStore(store).count())));
        database.close();
      }
    });
  }

  async run(): Promise<void> {
    await this.page.keyboard.press('Control+Enter');
  }
}

interface PlaygroundFixtures {
  provider: ScriptedProvider;
  /** Lists two models and otherwise leaves every call to the test. */
  nextRun: () => Promise<ScriptedCall>;
  playground: PlaygroundPage;
}

/** Tests of the playground with a provider whose every byte they decide, as the endpoint `workshop`. */
export const test = base.extend<PlaygroundFixtures>({
  provider: async ({}, use) => {
    await using provider = await startScriptedProvider((call) => call.models(['kestrel-large', 'kestrel-small']));
    await use(provider);
  },
  hostOptions: async ({ provider }, use) => use(['--endpoint', `workshop=${provider.baseAddress}`]),
  nextRun: async ({ provider }, use) => {
    await use(async () => {
      for (;;) {
        const call = await provider.nextCall();
        if (call.path.endsWith('/chat/completions')) return call;
        call.models(['kestrel-large', 'kestrel-small']);
      }
    });
  },
  playground: async ({ page }, use) => {
    const playground = new PlaygroundPage(page);
    await playground.prompt.waitFor();
    await use(playground);
  },
});

export { expect } from '@playwright/test';
