import type { Page } from '@playwright/test';
import type { ScriptedCall, ScriptedProvider } from './scripted-provider.ts';

/** The calls for a completion; those for the list of models are answered on the way. */
export async function* completionCalls(provider: ScriptedProvider, model: string): AsyncGenerator<ScriptedCall> {
  for (;;) {
    const call = await provider.nextCall();
    if (call.method === 'GET') call.models([model]);
    else yield call;
  }
}

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
