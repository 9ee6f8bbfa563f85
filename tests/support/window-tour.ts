import { expect, type Page } from '@playwright/test';
import type { Agent } from '../../shared/contract/agents.ts';
import type { Prompt, PromptVersion } from '../../shared/contract/prompts.ts';
import type { CallHost } from './call-host.ts';
import { fillReviews, type ReviewObjects } from './review-objects.ts';
import type { ScriptedCall } from './scripted-provider.ts';

/** The endpoint that the scripted provider stands for, and its model. */
export const tourModel = { aiSystem: 'OpenAiCompatible', model: 'workshop/kestrel-large' } as const;

const answer = `# Opening hours

Pieces are taken in **from Monday to Thursday**, 9:00 to 15:30 [1].

| Day | Hours |
| --- | --- |
| Monday | 9:00 to 15:30 |

\`\`\`ts
let open = 1;
\`\`\`

- Bring the certificate

> Ring the bell.
`;

/** Responds to everything at once, so that nothing on a screen waits for the test. A prompt that asks to fail fails. */
export function answerEverything(call: ScriptedCall): void {
  if (!call.path.endsWith('/chat/completions')) return call.models(['kestrel-large', 'kestrel-small']);
  if (call.bodyText.includes('Fail with an error')) return call.fail(500, 'It broke');
  if (call.body['stream'] === true) void call.chatStream([...answer.matchAll(/[\s\S]{1,12}/g)].map(String));
  else call.chatAnswer({ content: answer });
}

/** Leads every call to another computer to a port that nobody listens on. */
export const withoutNetwork = { HTTPS_PROXY: 'http://127.0.0.1:9', npm_config_registry: 'http://127.0.0.1:9' };

/** What the host holds: the addresses of the tour are made from it. */
export interface TourObjects extends ReviewObjects {
  readonly promptId: string;
  readonly versionId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly runId: string;
  readonly replayId: string;
  readonly dataspaceId: string;
  readonly sourceId: string;
}

const handbook = `# Opening hours

Pieces are taken in from Monday to Thursday, 9:00 to 15:30. Certificates are ready after two days.

# Testing acids

Nitric acid tells gold of up to 14 carat. Put one drop across both streaks and watch for ten seconds.
`;

async function addSource(page: Page, call: CallHost, dataspaceId: string): Promise<string> {
  await page.evaluate((address) => (location.hash = address), `/knowledge/${dataspaceId}`);
  const file = { name: 'opening-hours.md', mimeType: 'text/markdown', buffer: Buffer.from(handbook) };
  // Before the dataspace is open, files would go to another one, which may have the same name.
  await page.locator(`[role=option][aria-selected=true][id$="${dataspaceId}"]`).waitFor();
  await page.locator('main input[type=file]').first().setInputFiles(file);
  const read = () => call('GET', `/window/knowledge/dataspaces/${dataspaceId}/sources?offset=0`);
  const ready = { data: [expect.objectContaining({ status: 'Ready' })] };
  await expect.poll(read).toMatchObject(ready);
  const { data } = (await read()) as { data: { id: string }[] };
  return data[0]!.id;
}

/** Gives the host the sample data, a prompt with two versions, an agent with a conversation, and a dataspace with a source. */
export async function fillHost(page: Page, call: CallHost): Promise<TourObjects> {
  await call('POST', '/window/endpoints/workshop/test');
  await call('POST', '/window/audit/samples');
  const prompt = (await call('POST', '/prompts', {
    name: 'support/Answer a ticket',
    promptText: 'Answer {{customer}} about "{{ticket}}" in {{language}}.',
    note: 'First version',
    tags: ['mail', 'short'],
    ...tourModel,
  })) as Prompt;
  const version = (await call('POST', `/prompts/${prompt.id}/versions`, {
    promptText: 'Answer {{customer}} about "{{ticket}}" in {{language}}. Keep it under 150 words.',
    note: 'Shorter',
    ...tourModel,
  })) as PromptVersion;
  await call('PUT', `/prompts/${prompt.id}/labels/production`, { promptVersionId: version.id });
  const agent = (await call('POST', '/agents', {
    name: 'Support desk',
    prompt: 'You answer questions about opening hours.',
    ...tourModel,
  })) as Agent;
  const { conversationId } = (await call('POST', `/agents/${agent.id}/run`, { message: 'When are you open?' })) as {
    conversationId: string;
  };
  const { data: runs } = (await call('GET', '/window/runs')) as { data: { runId: string }[] };
  const runId = runs[0]!.runId;
  const target = { ...tourModel, model: 'workshop/kestrel-small' };
  const replay = { selection: { runIds: [runId] }, target };
  const { id: replayId } = (await call('POST', '/window/audit/replays', replay)) as { id: string };
  const dataspace = (await call('POST', '/dataspaces', { name: 'Assay office' })) as { id: string };
  return {
    promptId: prompt.id,
    versionId: version.id,
    agentId: agent.id,
    conversationId,
    runId,
    replayId,
    dataspaceId: dataspace.id,
    sourceId: await addSource(page, call, dataspace.id),
    ...(await fillReviews(call)),
  };
}

export interface TourStop {
  readonly name: string;
  /** As it stands behind `#`. */
  readonly address: string;
  /** A selector of what differs from the other stops of the screen; everything if it is absent. */
  readonly part?: string;
  /** Brings the screen into the state that the stop is about. */
  readonly enter?: (page: Page) => Promise<void>;
}

const settingsPages = [
  'providers',
  'endpoints',
  'service-models',
  'on-device',
  'embeddings',
  'api-keys',
  'local-server',
  'data',
  'privacy',
  'appearance',
  'updates',
];

/** Every screen as a new user finds it. */
export const emptyStops: readonly TourStop[] = [
  ...['playground', 'compare', 'prompts', 'agents', 'knowledge', 'audit', 'moderation', 'recorder'].map((screen) => ({
    name: `${screen}-empty`,
    address: `/${screen}`,
  })),
  { name: 'audit-replays-empty', address: '/audit/replays' },
  { name: 'reviews-empty', address: '/audit/reviews' },
  { name: 'rubrics-empty', address: '/audit/reviews/rubrics' },
  { name: 'not-found', address: '/nowhere' },
];

/** Every screen and its main states, with data. */
export function filledStops(objects: TourObjects): readonly TourStop[] {
  const { promptId, versionId, agentId, conversationId, runId, replayId, dataspaceId, sourceId } = objects;
  const { rubricId, queueId } = objects;
  const press = (keys: string) => (page: Page) => page.keyboard.press(keys);
  return [
    { name: 'playground', address: '/playground' },
    { name: 'playground-run', address: `/playground/runs/${runId}` },
    { name: 'playground-version', address: `/playground/prompts/${promptId}/${versionId}` },
    { name: 'playground-models', address: '/playground', enter: press('Control+l') },
    { name: 'playground-save', address: `/playground/prompts/${promptId}/${versionId}`, enter: press('Control+s') },
    {
      name: 'playground-compare',
      address: `/playground/runs/${runId}`,
      enter: (page) => addModel(page, 'kestrel-small'),
    },
    { name: 'playground-wire', address: `/playground/runs/${runId}`, enter: openWire },
    { name: 'compare', address: '/compare' },
    { name: 'compare-setup', address: '/compare/new' },
    { name: 'compare-datasets', address: '/compare/datasets' },
    { name: 'compare-judges', address: '/compare/judges' },
    { name: 'prompts', address: `/prompts/${promptId}` },
    { name: 'prompts-compare', address: `/prompts/${promptId}/compare//${versionId}` },
    { name: 'prompts-run', address: `/prompts/${promptId}/run/${versionId}` },
    { name: 'agents', address: `/agents/${agentId}` },
    { name: 'agents-conversation', address: `/agents/${agentId}/${conversationId}` },
    { name: 'knowledge', address: `/knowledge/${dataspaceId}` },
    { name: 'knowledge-passage', address: `/knowledge/sources/${sourceId}/0-60` },
    { name: 'audit', address: '/audit' },
    { name: 'audit-conversation', address: `/audit/all/${conversationId}` },
    { name: 'audit-provider', address: `/audit/all/${conversationId}`, enter: showProviderRequest },
    { name: 'audit-filtered', address: '/audit/model=gpt-6.1-terra&status=Completed&rated=no&caller=window' },
    { name: 'audit-nothing', address: '/audit/text=nothing+has+these+words&score=-3..-1&status=Lost' },
    { name: 'audit-replays', address: '/audit/replays' },
    { name: 'audit-replay', address: `/audit/replays/${replayId}` },
    { name: 'reviews', address: '/audit/reviews' },
    { name: 'reviews-new', address: '/audit/reviews/new/rated=no' },
    { name: 'reviews-rubric', address: `/audit/reviews/rubrics/${rubricId}` },
    { name: 'reviews-queue', address: `/audit/reviews/${queueId}`, enter: press('y') },
    { name: 'reviews-agreement', address: `/audit/reviews/${queueId}/agreement` },
    { name: 'moderation', address: '/moderation', enter: checkText },
    { name: 'recorder', address: '/recorder' },
    ...settingsPages.map((page) => ({ name: `settings-${page}`, address: `/settings/${page}` })),
    { name: 'palette', address: '/settings/appearance', enter: press('Control+k') },
    { name: 'shortcuts', address: '/settings/appearance', enter: press('?') },
  ];
}

/** Compares the run with the first model that the words find. */
export async function addModel(page: Page, words: string): Promise<void> {
  const picker = page.getByRole('dialog', { name: 'Choose model' });
  await page.keyboard.press('Control+Shift+L');
  await picker.getByRole('combobox', { name: 'Search models' }).fill(words);
  await picker
    .getByRole('option', { name: new RegExp(words) })
    .and(picker.locator('[aria-selected=true]'))
    .waitFor();
  await page.keyboard.press('Enter');
  await picker.waitFor({ state: 'hidden' });
}

/** Opens the wire, whose bar is always there. */
export async function openWire(page: Page): Promise<void> {
  const toggle = page.getByRole('button', { name: 'Wire', exact: true });
  if ((await toggle.getAttribute('aria-expanded')) === 'false') await page.keyboard.press('Control+j');
  await page.locator('.wire__body').waitFor();
}

async function showProviderRequest(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Provider' }).click();
  await page.getByRole('region', { name: 'Provider response' }).waitFor();
}

async function checkText(page: Page): Promise<void> {
  await page.locator('.moderation__document .cm-content').click();
  await page.keyboard.insertText('I will wait at your depot and break his fingers. Have a nice day.');
  await page.keyboard.press('Control+Enter');
}

/** Resolves when the screen shows what it has, in its typeface, and nothing moves any more. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator('.placeholder, main [aria-busy="true"]')).toHaveCount(0);
  await page.evaluate(async () => {
    await document.fonts.ready;
    const ending = document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
    await Promise.all(ending.map((animation) => animation.finished.catch(() => {})));
  });
}

/** Opens a stop in a window without anything that floats. */
export async function enterStop(page: Page, { address, enter, part }: TourStop): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await settled(page);
  await enter?.(page);
  if (enter && part !== undefined) await page.locator(part).first().waitFor();
  await settled(page);
}

/** Opens a stop in a window that may show anything: what floats is closed first. */
export async function openStop(page: Page, stop: TourStop): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await enterStop(page, stop);
}
