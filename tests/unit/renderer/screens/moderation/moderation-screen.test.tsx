// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ModerationScreen } from '../../../../../renderer/screens/moderation/moderation-screen.tsx';
import { useModerationStore } from '../../../../../renderer/stores/moderation.ts';
import { useToasts } from '../../../../../renderer/stores/toasts.ts';
import { AppError } from '../../../../../shared/app-error.ts';
import { createBatch, listBatches, readPresets } from '../../../../../shared/contract/moderation-window.ts';
import { builtInPolicy, defaultModerationSettings } from '../../../../../shared/contract/moderation.ts';
import { readSettings, updateSettings } from '../../../../../shared/contract/settings.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

const threat = 'I will find you and kill you with a knife, you worthless idiot.';
let opened: OpenWindow;

beforeEach(() => {
  // The editor measures its text, and jsdom has no measures.
  Range.prototype.getClientRects ??= () => [] as unknown as DOMRectList;
  // A wide window, where the list of texts stands beside the text.
  const list = { matches: true, addEventListener: () => {}, removeEventListener: () => {} };
  vi.stubGlobal('matchMedia', () => list);
  useModerationStore.setState(useModerationStore.getInitialState(), true);
});
afterEach(async () => {
  await opened.close();
  history.replaceState(null, '', '#');
});

/** Holds the requests to an endpoint until the returned function is called. */
function hold(held: unknown): () => void {
  const { client } = opened.window.host;
  const call = client.call.bind(client);
  const gate = Promise.withResolvers<void>();
  client.call = (async (...[endpoint, options]: Parameters<typeof call>) => {
    if ((endpoint as unknown) === held) await gate.promise;
    return call(endpoint, options);
  }) as typeof call;
  return gate.resolve;
}

async function open(options: Parameters<typeof openWindow>[1] = {}): Promise<void> {
  opened = await openWindow(<ModerationScreen />, { address: '/moderation', ...options });
  await screen.findByText('Scores and thresholds');
}

const slider = (name: string) => screen.getByRole('slider', { name: `${name} threshold` });
const level = (name: string) => screen.getByRole('group', { name });

describe('one text', () => {
  test('is checked and flagged, with its passages highlighted', async () => {
    useModerationStore.setState({ text: `Good morning. ${threat}` });
    await open();
    fireEvent.click(screen.getByText('Check'));
    await screen.findByText(/^Flagged: .*violence/);
    const passages = screen.getByRole('region', { name: 'Passages' });
    await within(passages).findByRole('button', { name: /^Violence: show/ });
    expect(document.querySelector('mark')?.textContent).toContain('VI');
  });

  test('is flagged by moved thresholds without another check', async () => {
    useModerationStore.setState({ text: threat });
    await open();
    fireEvent.click(screen.getByText('Check'));
    await within(await waitFor(() => level('Violence'))).findByText('Flagged');
    const before = opened.window.requests.length;
    fireEvent.keyDown(slider('Violence'), { key: 'End' });
    await waitFor(() => expect(within(level('Violence')).queryByText('Flagged')).toBeNull());
    expect(slider('Violence').getAttribute('aria-valuenow')).toBe('1');
    const after = opened.window.requests.slice(before);
    expect(after.filter((request) => !request.includes('/window/moderation/check'))).toEqual([]);
  });

  test('separates its verdict from later edits', async () => {
    useModerationStore.setState({ text: threat });
    await open();
    fireEvent.click(screen.getByText('Check'));
    await screen.findByText(/^Flagged: /);
    useModerationStore.setState({ text: 'Something else.' });
    await screen.findByText('Changed since the check');
  });

  test('shows that a classifier lacks a key, next to the other one', async () => {
    useModerationStore.setState({ text: threat, second: { kind: 'open-ai', model: 'omni-moderation-latest' } });
    await open();
    fireEvent.click(screen.getByText('Check'));
    await screen.findByText(/^B, omni-moderation-latest: .*key/);
    expect(within(level('Violence')).getByText('Flagged')).toBeTruthy();
    expect(screen.getByRole('link', { name: 'Open settings' }).getAttribute('href')).toBe('/settings/providers/OpenAi');
  });
});

describe('a text that is not flagged', () => {
  test('shows the score closest to its threshold', async () => {
    useModerationStore.setState({ text: 'How do I kill a zombie process on Linux?' });
    await open();
    fireEvent.click(screen.getByText('Check'));
    await screen.findByText('Not flagged');
    const violence = within(level('Violence'));
    const shown = screen.getByText(/^Closest: /).textContent;
    expect(shown).toMatch(/^Closest: \w[\w-]* 0\.\d\d of 0\.\d\d$/);
    expect(violence.queryByText('Flagged')).toBeNull();
  });
});

describe('examples', () => {
  test('are checked with one click, and hide for the passages', async () => {
    await open();
    const examples = screen.getByRole('region', { name: 'Examples' });
    fireEvent.click(within(examples).getByRole('button', { name: /^Violence: I will wait at your depot/ }));
    await screen.findByText('Flagged: violence');
    expect(screen.queryByRole('region', { name: 'Examples' })).toBeNull();
    expect(useModerationStore.getState().text).toBe('I will wait at your depot and break his fingers.');
  });
});

describe('why', () => {
  test('shows how a score changes without each passage, the largest drop first', async () => {
    useModerationStore.setState({ text: `Good morning. ${threat}` });
    await open();
    fireEvent.click(screen.getByText('Check'));
    fireEvent.click(await screen.findByText('Why'));
    const passages = screen.getByRole('region', { name: 'Passages' });
    const rows = async () => (await within(passages).findAllByRole('row')).slice(1).map((row) => row.textContent);
    fireEvent.change(await within(passages).findByRole('combobox', { name: 'Category' }), {
      target: { value: 'violence' },
    });
    const [first, second] = await rows();
    expect(first).toMatch(/^I will find you.*0\.\d\d\u22120\.\d\d$/);
    expect(second).toMatch(/^Good morning\./);
    fireEvent.click(within(passages).getByText('Flagged'));
    await within(passages).findByRole('button', { name: /^Violence: show/ });
  });

  test('is not offered for a classifier of a provider', async () => {
    useModerationStore.setState({ text: threat, first: { kind: 'open-ai', model: 'omni-moderation-latest' } });
    await open();
    fireEvent.click(screen.getByText('Check'));
    await screen.findByText(/^A, omni-moderation-latest: .*key/);
    expect(screen.queryByText('Why')).toBeNull();
  });
});

describe('a file of texts', () => {
  const batchName = 'kept.csv';
  const importFile = (name: string, content: string) => {
    const file = new File([content], name);
    // jsdom reads files by a FileReader only.
    file.text = async () => content;
    fireEvent.change(screen.getByLabelText('Import file'), { target: { files: [file] } });
  };

  test("replaces nothing if it can't be read, and the reason names row, column and value", async () => {
    await open();
    importFile(batchName, 'text,self-harm\nGood morning,0\n');
    await screen.findByText(/, classifier A, kept\.csv$/);
    const before = useModerationStore.getState().labelledId;
    importFile('broken.csv', 'text,self-harm\nGood morning,0\nGood evening,perhaps\n');
    await waitFor(() => {
      const texts = useToasts.getState().toasts.map(({ text }) => text);
      expect(texts).toContainEqual(
        expect.stringContaining('Couldn\u0027t read broken.csv. Row 3, column "self-harm": "perhaps" is not a label.'),
      );
    });
    expect(useModerationStore.getState().labelledId).toBe(before);
    expect(screen.getByText(/, classifier A, kept\.csv$/)).toBeTruthy();
    expect((await opened.window.host.client.call(listBatches)).data.map(({ name }) => name)).toEqual([batchName]);
  });

  test('with Windows line ends is highlighted at the flagged passages', async () => {
    await open();
    const text = `${'Good morning.\r\n'.repeat(20)}${threat} ${'The garden is nice today. '.repeat(5)}`;
    importFile('tickets.jsonl', JSON.stringify({ text }));
    await screen.findByText(/^Flagged: .*violence/);
    await waitFor(() => expect(document.querySelector('mark')?.textContent).toMatch(/^I will find you/));
  });

  test('does not replace a text that was opened meanwhile', async () => {
    await open();
    const release = hold(createBatch);
    importFile(batchName, 'text,self-harm\nGood morning,0\n');
    location.hash = '#/moderation/batches/another/1';
    release();
    await waitFor(() => expect(useModerationStore.getState().labelledId).not.toBeNull());
    expect(opened.addresses).toEqual(['/moderation']);
  });

  test('without labels does not become the labelled texts', async () => {
    await open();
    fireEvent.click(screen.getByText('Load labelled texts'));
    importFile('plain.txt', 'Good morning');
    await waitFor(() =>
      expect(useToasts.getState().toasts.map(({ text }) => text)).toContainEqual(
        expect.stringContaining('plain.txt. The file has no labels.'),
      ),
    );
    expect((await opened.window.host.client.call(listBatches)).data).toEqual([]);
  });
});

describe('the policy of a chat model', () => {
  const chatModel = { kind: 'model', aiSystem: 'ServiceAi', model: 'hl-gpt-4o-mini', policy: null } as const;

  test('shows the built-in one, and can be replaced by a custom one', async () => {
    useModerationStore.setState({ first: chatModel });
    await open();
    fireEvent.click(screen.getByRole('button', { name: 'Policy of classifier A' }));
    const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: /^The policy the model applies/ });
    expect(field.value).toBe(builtInPolicy);
    fireEvent.change(field, { target: { value: ' violence: any mention of knives.\n' } });
    fireEvent.click(screen.getByText('Save policy'));
    fireEvent.click(await screen.findByText('Save as service thresholds'));
    const saved = async () => (await opened.window.host.client.call(readSettings)).moderation.classifier;
    await waitFor(async () =>
      expect(await saved()).toEqual({ ...chatModel, policy: 'violence: any mention of knives.' }),
    );
  });

  test('can be reset to the built-in one', async () => {
    useModerationStore.setState({ first: { ...chatModel, policy: 'Nothing.' } });
    await open();
    fireEvent.click(screen.getByRole('button', { name: 'Policy of classifier A' }));
    fireEvent.click(await screen.findByText('Restore built-in policy'));
    fireEvent.click(screen.getByText('Save policy'));
    await waitFor(() => expect(useModerationStore.getState().first).toEqual(chatModel));
  });
});

describe('presets', () => {
  const savedModeration = async () => (await opened.window.host.client.call(readSettings)).moderation;
  const preset = (name: string) => within(screen.getByRole('radiogroup', { name: 'Preset' })).getByText(name);

  test('move all thresholds, Balanced first, and are saved by name', async () => {
    await open();
    await waitFor(() => expect(preset('Balanced').getAttribute('aria-checked')).toBe('true'));
    const balanced = Number(slider('Hatred').getAttribute('aria-valuenow'));
    fireEvent.click(preset('Strict'));
    await waitFor(() => expect(Number(slider('Hatred').getAttribute('aria-valuenow'))).toBeLessThan(balanced));
    fireEvent.click(await screen.findByText('Save as service thresholds'));
    await waitFor(async () =>
      expect(await savedModeration()).toEqual({ ...defaultModerationSettings, preset: 'strict' }),
    );
    await waitFor(() => expect(screen.queryByText('Save as service thresholds')).toBeNull());
  });

  test('are replaced by custom thresholds', async () => {
    await open();
    fireEvent.keyDown(slider('Hatred'), { key: 'End' });
    await screen.findByText('Custom thresholds');
    expect(preset('Balanced').getAttribute('aria-checked')).toBe('false');
    fireEvent.click(preset('Lenient'));
    await screen.findByText('Fewest false alarms, misses the most');
  });
});

describe('thresholds', () => {
  test('become those of the service only on request', async () => {
    await open();
    fireEvent.keyDown(slider('Hatred'), { key: 'Home' });
    fireEvent.keyDown(slider('Hatred'), { key: 'PageUp' });
    fireEvent.keyDown(slider('Hatred'), { key: 'ArrowRight' });
    const saved = async () => (await opened.window.host.client.call(readSettings)).moderation.thresholds.hatred;
    expect(await saved()).toBeNull();
    fireEvent.click(await screen.findByText('Save as service thresholds'));
    await waitFor(async () => expect(await saved()).toBe(0.11));
    await waitFor(() => expect(screen.queryByText('Save as service thresholds')).toBeNull());
  });

  test('that are moved while others are saved stay', async () => {
    await open();
    const release = hold(updateSettings);
    fireEvent.keyDown(slider('Hatred'), { key: 'End' });
    fireEvent.click(await screen.findByText('Save as service thresholds'));
    fireEvent.keyDown(slider('Violence'), { key: 'End' });
    const { thresholds } = useModerationStore.getState();
    release();
    const saved = async () => (await opened.window.host.client.call(readSettings)).moderation.thresholds;
    await waitFor(async () => expect((await saved()).hatred).toBe(1));
    const button = () => screen.getByText('Save as service thresholds').closest('button')!;
    await waitFor(() => expect(button().getAttribute('aria-busy')).toBeNull());
    expect(useModerationStore.getState().thresholds).toBe(thresholds);
    expect((await saved()).violence).not.toBe(1);
    expect(slider('Violence').getAttribute('aria-valuenow')).toBe('1');
  });
});

test('that the host rejects show the reason and a Retry button', async () => {
  opened = await openWindow(<ModerationScreen />, {
    address: '/moderation',
    prepare: async (client) => {
      const { call } = client;
      client.call = (async (...[endpoint, options]: Parameters<typeof call>) => {
        if ((endpoint as unknown) !== readPresets) return call(endpoint, options);
        client.call = call;
        throw new AppError('invalid_request', 'There is no such classifier.');
      }) as typeof call;
    },
  });
  await screen.findByText('There is no such classifier.');
  fireEvent.click(screen.getByText('Retry'));
  await screen.findByText('Scores and thresholds');
});

describe('a labelled set', () => {
  test('shows precision and recall of a threshold while it moves', async () => {
    const labels = { sexual: false, hatred: false, harassment: null, selfHarm: false };
    await open({
      prepare: async (client) => {
        const texts = [
          { text: threat, labels: { ...labels, violence: true } },
          { text: 'The weather is nice today.', labels: { ...labels, violence: false } },
        ];
        const source = { kind: 'texts' as const, texts };
        const { id } = await client.call(createBatch, {
          body: { name: 'set.jsonl', classifiers: [{ kind: 'on-device' }], source },
        });
        await waitFor(async () => {
          const { data } = await client.call(listBatches);
          expect(data[0]?.state).toBe('completed');
        });
        useModerationStore.setState({ labelledId: id });
      },
    });
    const quality = screen.getByRole('region', { name: 'Quality' });
    const row = async () => (await within(quality).findByRole('button', { name: 'Violence' })).closest('tr');
    await waitFor(async () => expect((await row())?.textContent).toBe('Violence11.001.00'));
    fireEvent.keyDown(slider('Violence'), { key: 'Home' });
    await waitFor(async () => expect((await row())?.textContent).toBe('Violence10.501.00'));
    expect(within(quality).getByRole('img', { name: 'Violence: Precision 0.50, recall 1.00 at 0.00' })).toBeTruthy();
  });
});

describe('the guard', () => {
  test('is switched here, with its cost', async () => {
    await open();
    fireEvent.click(await screen.findByText('Guard off'));
    const prompts = await screen.findByRole('group', { name: 'Prompts' });
    fireEvent.click(within(prompts).getByText('Block'));
    await screen.findByText('Guard on');
    const saved = async () => (await opened.window.host.client.call(readSettings)).guard;
    await waitFor(async () => expect(await saved()).toEqual({ prompts: 'refuse', answers: 'off' }));
    await within(prompts).findByText('No runs checked since Touchstone started');
  });
});

test('missing texts are explained, with a way back', async () => {
  await open({ address: '/moderation/batches/0192f0aa-0000-7000-8000-000000000000/3' });
  await screen.findByText('This batch is no longer in memory');
  fireEvent.click(screen.getByText('Single text'));
  await screen.findByText('Batch');
});
