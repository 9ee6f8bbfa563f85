import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import { messageKeys } from '../../../electron/storage/stored-messages.ts';
import { type Message, textMessage } from '../../../shared/contract/messages.ts';
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

describe('the messages of calls that repeat their conversation', () => {
  const fileId = 'ab'.repeat(32);
  const picture = { type: 'file', fileId, mediaType: 'image/png', name: 'a.png', bytes: 4 } as const;
  const conversation: Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'Look' }, picture] },
    textMessage('assistant', 'A dot.'),
    textMessage('user', 'Which colour?'),
    textMessage('assistant', 'Black.'),
    textMessage('user', 'Thanks'),
  ];
  let storage: ReturnType<typeof openTestStorage>;
  beforeEach(() => {
    storage = openTestStorage();
  });

  async function record(messages: readonly Message[], createdAt = Date.now()): Promise<string> {
    const origin = { api: 'openai-chat', client: null } as const;
    const run = sampleRun({ promptText: '', messages, messageKeys: messageKeys(messages), origin, createdAt });
    storage.runs.begin(run);
    await storage.runs.finish(run.runId, sampleOutcome());
    return run.runId;
  }

  function query<Row>(sql: string): Row[] {
    storage.flush();
    const database = new Database(storage.databaseFile, { readonly: true });
    try {
      return database.prepare<[], Row>(sql).all();
    } finally {
      database.close();
    }
  }

  const stored = () => query<{ json: string }>('SELECT json FROM shared_messages').map(({ json }) => JSON.parse(json));
  const messagesOf = (runId: string) => storage.runs.read(runId)?.input.messages;

  test('are stored once, read whole, and removed with the last call that has them', async () => {
    const turns = [conversation.slice(0, 1), conversation.slice(0, 3), conversation];
    const ids: string[] = [];
    for (const [index, turn] of turns.entries()) ids.push(await record(turn, 1000 + index));
    const branch = [...conversation.slice(0, 3), textMessage('assistant', 'Red.')];
    const other = await record(branch, 2000);
    expect(stored()).toHaveLength(6);
    expect(ids.map(messagesOf)).toEqual(turns);
    expect(messagesOf(other)).toEqual(branch);
    expect(query('SELECT DISTINCT file FROM run_files')).toEqual([{ file: fileId }]);
    expect(query<{ run: number }>('SELECT run FROM run_files')).toHaveLength(4);

    expect(storage.retention.apply('delete', 1002, 10)).toBe(2);
    expect(messagesOf(ids[2]!)).toEqual(conversation);
    expect(storage.retention.apply('anonymise', 1003, 10)).toBe(1);
    expect(messagesOf(ids[2]!)).toEqual([]);
    expect(stored()).toEqual(branch);
    expect(messagesOf(other)).toEqual(branch);
    expect(storage.retention.apply('delete', 3000, 10)).toBe(2);
    expect(stored()).toEqual([]);
    expect(query('SELECT * FROM run_files')).toEqual([]);
  });

  test('count for a slice of the retention with the call that removes them', async () => {
    const [first, last] = [await record(conversation.slice(0, 3), 1), await record(conversation, 2)];
    storage.flush();
    const found = storage.retention.find('delete', 10, null, 10);
    const bytes = found.map(({ sequence }) => storage.retention.textBytes(sequence));
    expect(found).toHaveLength(2);
    expect(bytes[1]! - bytes[0]!).toBe(JSON.stringify(conversation).length - conversation.length - 1);
    expect([first, last].map(messagesOf)).toEqual([conversation.slice(0, 3), conversation]);
  });
});
