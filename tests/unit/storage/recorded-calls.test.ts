import { expect, test } from 'vitest';
import { textMessage } from '../../../shared/contract/messages.ts';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { openTestStorage } from './test-storage.ts';

test('the prompt of a recorded call is a template that renders to its messages, whatever braces they have', async () => {
  const storage = openTestStorage();
  const texts = ['Fill {{x}} and {{#each y}}', 'As {{{z}}} says', 'Then \\{{w}}'] as const;
  const messages = [textMessage('user', texts[0]), textMessage('assistant', texts[1]), textMessage('user', texts[2])];
  const run = sampleRun({
    promptText: texts[2],
    replacements: null,
    messages,
    origin: { api: 'openai-chat', client: 'curl' },
  });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  const { promptText } = storage.runs.read(run.runId)!.input;
  const rendered = renderTemplate(parseTemplate(promptText), {});
  for (const text of texts) expect(rendered.text).toContain(text);
  const own = sampleRun();
  storage.runs.begin(own);
  await storage.runs.finish(own.runId, sampleOutcome());
  expect(storage.runs.read(own.runId)!.input.promptText).toBe(own.promptText);
});
