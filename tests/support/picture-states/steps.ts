import { expect, type Page } from '@playwright/test';
import type { ScriptedCall } from '../scripted-provider.ts';
import { callInPage } from '../served-window.ts';
import { answerEverything, type TourStop } from '../window-tour.ts';

/** Responds as the last words of a prompt ask for, so that a picture shows each way in which a run goes. */
export async function answerByWords(call: ScriptedCall): Promise<void> {
  if (!call.path.endsWith('/chat/completions')) return call.models(['kestrel-large', 'kestrel-small']);
  const messages = JSON.stringify(call.body['messages']);
  const model = String(call.body['model']);
  const has = (words: string) => messages.includes(words);
  if (has('too many requests') || (has('small is busy') && model.endsWith('small')))
    return call.fail(429, 'Rate limit reached for requests per minute.', { 'retry-after': '20' });
  if (has('wrong key')) return call.fail(401, 'Incorrect API key provided: sk-***.');
  if (has('server trouble')) return call.fail(500, 'The server had an error while processing your request.');
  if (has('never begins')) return void call.openEventStream();
  if (has('never ends') || has('breaks off')) {
    call.openEventStream();
    await call.chatDelta({ reasoning_content: 'The person asks about the opening hours. The passage has them.' });
    await call.chatDelta({ content: 'Pieces are taken in **from Monday to Thursday**, 9:00 to 15:30.\n\nThe ' });
    if (has('breaks off')) call.cut();
    return;
  }
  if (has('too long')) return call.chatStream(['Pieces are taken in from Monday to '], { finishReason: 'length' });
  if (has('say nothing')) return call.chatStream([]);
  if (has('think first')) {
    call.openEventStream();
    await call.chatDelta({
      reasoning_content:
        'The person asks about the opening hours.\n\nThe passage has them: 9:00 to 15:30, Monday to Thursday. So the answer is short.',
    });
    await call.chatDelta({ content: 'From **9:00 to 15:30**, Monday to Thursday.' });
    const usage = { prompt_tokens: 7_215, completion_tokens: 1_432, total_tokens: 8_647 };
    const details = { prompt_tokens_details: { cached_tokens: 6_900 } };
    return call.chatEnd({ usage: { ...usage, ...details, completion_tokens_details: { reasoning_tokens: 1_020 } } });
  }
  if (has('a long answer') && call.body['stream'] === true) {
    const part =
      'The certificates are ready after two days. Bring the receipt, or a written order of the person who left the piece.\n\n1. Ring the bell at the side door.\n2. Show the receipt.\n3. Sign for the piece.\n\n```json\n{ "hours": "9:00 to 15:30", "days": ["Monday", "Tuesday"] }\n```\n\n';
    return call.chatStream(Array.from({ length: 12 }, (_, index) => `## Part ${index + 1}\n\n${part}`));
  }
  return answerEverything(call);
}

/** A stop that only pictures are taken of. */
export interface PictureState extends TourStop {
  /** Keeps loading, so that it never settles. */
  readonly isLoading?: boolean;
  /** Undoes what the state changed for those after it. */
  readonly leave?: (page: Page) => Promise<void>;
}

export async function newPrompt(page: Page, text: string, values: Record<string, string> = {}): Promise<void> {
  await page.keyboard.press('Control+Alt+n');
  const editor = page.getByRole('textbox', { name: 'Prompt, Handlebars' });
  await expect(editor).toContainText('Write your prompt.');
  await editor.click();
  await page.keyboard.insertText(text);
  for (const [name, value] of Object.entries(values)) {
    await page.getByRole('region', { name: 'Variables' }).getByLabel(name, { exact: true }).fill(value);
  }
}

export const answerOf = (page: Page) => page.getByRole('region', { name: 'Answer', exact: true });

export async function run(page: Page, text: string, until: RegExp): Promise<void> {
  await newPrompt(page, text);
  await page.keyboard.press('Control+Enter');
  await expect(answerOf(page).getByText(until).first()).toBeVisible();
}

/** Every request of a path fails, until the state is left. */
export function broken(path: RegExp) {
  return {
    enter: async (page: Page) => {
      await page.route(path, (route) =>
        route.fulfill({
          status: 500,
          json: {
            error: {
              code: 'internal',
              message: 'Something went wrong on this device. Try again.',
              requestId: '5f1c0a52-8a39-4a0e-9d5b-7f1f4c5c2b11',
            },
          },
        }),
      );
      await page.reload();
      await page.getByRole('navigation', { name: 'Screens' }).waitFor();
      await page.getByRole('button', { name: 'Retry' }).first().waitFor();
    },
    leave: async (page: Page) => {
      await page.unroute(path);
      await page.reload();
    },
  };
}

/** Every request of a path waits, until the state is left. */
export function held(path: RegExp) {
  return {
    isLoading: true,
    enter: async (page: Page) => {
      await page.route(path, () => {});
      await page.reload();
      await page.getByRole('navigation', { name: 'Screens' }).waitFor();
      await page.locator('.placeholder').first().waitFor();
    },
    leave: async (page: Page) => {
      await page.unroute(path);
      await page.reload();
    },
  };
}

/** The model that the scripted provider answers. */
export const kestrel = { aiSystem: 'OpenAiCompatible', model: 'workshop/kestrel-large' };

/** Calls the host as the window does. */
export async function callHost(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, string>> {
  return (await callInPage(page, method, path, body)) as Record<string, string>;
}
