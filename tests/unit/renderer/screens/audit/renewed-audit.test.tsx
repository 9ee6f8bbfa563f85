// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useLocation } from 'wouter';
import { AuditScreen } from '../../../../../renderer/screens/audit/audit-screen.tsx';
import { RetentionSection } from '../../../../../renderer/screens/settings/retention-section.tsx';
import { reviewQueueAddress } from '../../../../../renderer/shell/addresses.ts';
import { useGlobalKeys } from '../../../../../renderer/shell/global-keys.ts';
import { useActingReviewer } from '../../../../../renderer/stores/acting-reviewer.ts';
import { searchAudit } from '../../../../../shared/contract/audit.ts';
import { createRubric } from '../../../../../shared/contract/rubrics.ts';
import { recordRun } from '../../../../support/audit-runs.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { createQueueOfAll, findRubric, pressKey } from '../../../../support/review-window.tsx';

let opened: OpenWindow;

beforeEach(() => {
  giveEverythingSize();
  sessionStorage.clear();
  useActingReviewer.setState({ token: null });
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: true }));
});
afterEach(async () => {
  await opened.close();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** The audit, and beside it the settings that delete runs. */
function AuditOrSettings() {
  const [location] = useLocation();
  useGlobalKeys();
  return location.startsWith('/audit') ? <AuditScreen /> : <RetentionSection />;
}

test('a score of a review is on its run, and a comment keeps it', async () => {
  let queueId = '';
  opened = await openWindow(<AuditOrSettings />, {
    address: '/audit',
    prepare: async (client, window) => {
      await recordRun(window);
      const items = [{ kind: 'score', question: 'How useful is the answer?' }] as const;
      const rubric = await client.call(createRubric, { body: { name: 'Use', items: [...items] } });
      queueId = (await createQueueOfAll(client, { rubricId: rubric.id })).id;
    },
  });
  await screen.findByText('No ratings');
  opened.navigate(reviewQueueAddress(queueId));
  const rubric = await findRubric();
  pressKey('-');
  pressKey('7');
  await within(rubric).findByText('1 of 1 answered');
  pressKey('Enter', { ctrlKey: true });
  await screen.findByText('All items have their reviews');

  opened.navigate('/audit');
  const field = within(await screen.findByRole('group', { name: /^Feedback on/ })).getByLabelText('Comment');
  fireEvent.change(field, { target: { value: 'Not what the terms say.' } });
  fireEvent.blur(field);
  const { client } = opened.window.host;
  const stored = async () =>
    (await client.call(searchAudit, { body: { filter: {}, sort: 'newest' } })).rows[0]!.run.feedback;
  await waitFor(async () => expect(await stored()).toMatchObject({ scoreText: 'Not what the terms say.' }));
  expect(await stored()).toMatchObject({ score: -7 });
  await waitFor(() => expect(screen.queryByText('No ratings')).toBeNull());
});

test('runs that the retention deletes leave the list', async () => {
  opened = await openWindow(<AuditOrSettings />, {
    address: '/audit',
    prepare: async (_client, window) => {
      await recordRun(window, { createdAt: Date.now() - 60 * 86_400_000 });
      await recordRun(window, { createdAt: Date.now() });
    },
  });
  await screen.findByText('2 conversations');
  opened.navigate('/settings/data');
  fireEvent.click(await screen.findByRole('radio', { name: 'Delete' }));
  fireEvent.change(screen.getByLabelText('After (days)'), { target: { value: '30' } });
  fireEvent.click(screen.getByRole('button', { name: 'Apply' }));
  const dialog = within(await screen.findByRole('alertdialog'));
  fireEvent.click(dialog.getByRole('button', { name: 'Delete' }));
  // A host applies the retention a second after its start, too: on a slow machine that is the last time, with no run.
  await screen.findByText(/[01] runs? deleted\.$/);
  opened.navigate('/audit');
  await screen.findByText('1 conversation');
});
