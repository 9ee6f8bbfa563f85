import { expect, test } from 'vitest';
import { conversationSection } from '../../../../electron/audit/evidence/html-page.ts';

test('a page shows tool calls and results as text, not as JSON', () => {
  const call = { id: 'c1', name: 'weather', arguments: '{"city": "<Paris>"}' };
  const messages = [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Wait.' },
        { type: 'toolCall', ...call },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'toolResult', toolCallId: 'c1', content: 'rain', isError: false },
        { type: 'toolResult', toolCallId: 'c2', content: 'broken', isError: true },
      ],
    },
  ];
  const records = [{ messages, toolCalls: [call] }];
  const html = conversationSection({ position: 1, records, names: [], timeZone: 'UTC' });
  const shown = 'Call of weather (c1):\n{&quot;city&quot;: &quot;&lt;Paris&gt;&quot;}';
  expect(html).toContain(
    `Assistant:\nWait.\n${shown}\n\nTool:\nResult of c1:\nrain\nError result of c2:\nbroken</pre>`,
  );
  expect(html).toContain(`<h3>Tool calls</h3>\n<pre dir="auto">${shown}</pre>`);
});
