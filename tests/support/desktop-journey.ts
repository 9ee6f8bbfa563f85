import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { startScriptedProvider, type ScriptedCall } from './scripted-provider.ts';

export interface DesktopProvider {
  readonly start: { readonly dataDirectory: string; readonly parameters: string[] };
  /** The next completion; requests for the list of models get one model. Call it before the run. */
  nextRun(): Promise<ScriptedCall>;
  close(): Promise<void>;
}

interface DesktopProviderOptions {
  readonly folder: string;
  readonly model: string;
  /** Command line parameters for the provider's address; by default it stands in for Groq. */
  readonly parameters?: (address: string) => string[];
}

/** Starts a provider, and names the options that start the desktop with it. */
export async function startDesktopProvider({
  folder,
  model,
  parameters = (address) => ['--provider-base', `Groq=${address}`],
}: DesktopProviderOptions): Promise<DesktopProvider> {
  const provider = await startScriptedProvider((call) => call.models([model]));
  return {
    start: { dataDirectory: join(folder, 'data'), parameters: parameters(provider.baseAddress) },
    async nextRun() {
      for (;;) {
        const call = await provider.nextCall();
        if (call.method === 'POST') return call;
        call.models([model]);
      }
    },
    close: provider.close,
  };
}

/** Parameters for an endpoint named `workshop`. */
export const asWorkshop = (address: string) => ['--endpoint', `workshop=${address}`];

/** Everything that the window has put into its own storage, as text. */
export function storedText(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const result = <Value>(request: IDBRequest<Value>) =>
      new Promise<Value>((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error));
      });
    let text = '';
    for (const { name } of await indexedDB.databases()) {
      const database = await result(indexedDB.open(name!));
      for (const store of database.objectStoreNames) {
        text += JSON.stringify(await result(database.transaction(store).objectStore(store).getAll()));
      }
      database.close();
    }
    return text;
  });
}
