import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { auditPage } from '../e2e/browser/audit-page.ts';
import { expect, test } from '../e2e/browser/playground-window.ts';

const pictures = join(import.meta.dirname, '../../docs/pictures');
const fixtures = join(import.meta.dirname, '../fixtures/knowledge');
const model = 'kestrel-large';

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(640, 20);
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

const template = `{{! Answers one ticket. Under 150 words. }}
Customer: {{customer.name}}
Ticket of {{ticket.received}}: """{{ticket.text}}"""

{{#each orders}}
- {{id}}: {{item}}{{#if late}} ({{late}} d late){{/if}}
{{else}}
No order on file: ask for the order number.
{{/each}}

Write the reply in {{language}}. Tone: {{tone}}.
End with one concrete next step and its date.`;

const reply = `Hi Mara,

Thank you for writing, and I am sorry that nobody picked up. This is where your order stands:

| Order | Item | Status |
| --- | --- | --- |
| NW-48213 | Kestrel 3 frame set, 54 cm | In transit, 6 days late |

**What happened.** The carrier has held the parcel since 14 November because the customs form lacked its commodity code. Delays of this kind count as ours, so no cost of rebooking falls on you.

**What happens next**

1. We send the corrected form to the carrier today.
2. `;

test('the playground while an answer streams in', async ({ page, playground, nextRun }) => {
  await page.keyboard.press('Control+Alt+n');
  await playground.chooseModel(model);
  await playground.writePrompt(template);
  for (const [name, value] of [
    ['customer.name', 'Mara Lindqvist'],
    ['ticket.received', '18 November 2026, 09:42'],
    [
      'ticket.text',
      'My Kestrel frame set was due last Thursday. Tracking has not moved since the 14th and nobody picks up.',
    ],
    ['orders', '[{"id": "NW-48213", "late": 6, "item": "Kestrel 3 frame set, 54 cm"}]'],
    ['language', 'English'],
  ] as const) {
    await playground.variable(name).fill(value);
  }
  const call = nextRun();
  await playground.run();
  const run = await call;
  run.openEventStream();
  for (const [content] of reply.matchAll(/[\s\S]{1,6}/g)) {
    await run.chatDelta({ content });
    // The pace of a model, so that the figures of the picture are those of one.
    await pause(22);
  }
  await expect(playground.answer.getByText('We send the corrected form to the carrier today.')).toBeVisible();
  await take(page, 'playground');
});

const notes = {
  'touch-needles.md': `# Touch needles

A set has needles of 8, 14, 18 and 22 carat, with silver and with copper in the alloy. Rub the needle beside the streak of the piece, equally wide and equally thick, and compare both in daylight.

## Care

Wipe needles with a dry cloth after each piece. A needle that was bent is put out of use: its streak is uneven.`,
  'acids.md': `# Testing acids

Nitric acid tells gold of up to 14 carat, a mixture with some hydrochloric acid gold of 18 carat. Put one drop across both streaks and watch for ten seconds: the streak of the lower fineness fades first.

Acids are kept in the cabinet of the laboratory and renewed every three months.`,
  'opening-hours.md':
    'Pieces are taken in from Monday to Thursday, 9:00 to 15:30. Certificates are ready after two days.',
};

test('a question to a dataspace, with a matching passage at its position', async ({ page }) => {
  await page.getByRole('link', { name: 'Knowledge' }).click();
  await page.getByRole('button', { name: 'Create dataspace' }).first().click();
  for (const name of ['Contracts', 'Workshop manuals', 'Assay office']) {
    if (name !== 'Contracts') await page.getByRole('button', { name: 'Create dataspace' }).first().click();
    await page.getByLabel('Dataspace name').fill(name);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'Sources' })).toBeVisible();
    await expect(page.getByRole('option', { name: new RegExp(`^${name}`), selected: true })).toBeVisible();
  }
  const files = [
    ...['report.pdf', 'touchstone.docx'].map((name) => ({ name, buffer: readFileSync(join(fixtures, name)) })),
    ...Object.entries(notes).map(([name, text]) => ({ name, buffer: Buffer.from(text) })),
  ];
  await page.getByLabel('Files to add').setInputFiles(files.map((file) => ({ ...file, mimeType: '' })));
  await expect(page.getByRole('option', { name: /^Assay office 5 sources, \d+ passages$/ })).toBeVisible();
  await page.getByLabel('Search Assay office').fill('How do I tell 14 carat gold from 18 carat?');
  await page.keyboard.press('Enter');
  await page
    .getByRole('button', { name: /^acids\.md/ })
    .first()
    .click();
  await expect(page.locator('.knowledge__text mark').first()).toBeVisible();
  await expect(page.getByRole('list', { name: 'Passages, most relevant first' })).toBeVisible();
  await take(page, 'knowledge');
});

test('a conversation in the audit, with feedback', async ({ page, served }) => {
  await page.goto(`${served.address}/#/audit`);
  await page.getByRole('button', { name: 'Load sample data' }).click();
  const audit = auditPage(page);
  await expect(audit.count).toHaveText('300 conversations');
  await audit.settled();
  await audit.list
    .getByRole('option')
    .filter({ hasText: /[+−]\d+$/ })
    .first()
    .click();
  await expect(audit.feedback.getByRole('radio', { checked: true })).toBeVisible();
  await take(page, 'audit');
});
