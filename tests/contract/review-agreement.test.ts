import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReviewAgreement } from '../../shared/contract/review-agreement.ts';
import { callJson, jsonRequest } from '../support/json-call.ts';
import { recordRun } from '../support/audit-runs.ts';
import { createReviewWorld, flagged } from '../support/review-world.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

type Json = ReturnType<typeof JSON.parse>;
const { reviewerCalled, lead, recordRuns, rubricItems, createQueue } = createReviewWorld(() => host);

/** Ten items that two reviewers answered; they differ on the first three. */
async function reviewed() {
  const { workspaceId, runs } = await recordRuns(10);
  const made = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
  const suffix = randomUUID().slice(0, 8);
  const [wren, heron] = [reviewerCalled(`wren ${suffix}`), reviewerCalled(`heron ${suffix}`)];
  for (const [reviewer, call] of [wren, heron].entries()) {
    for (let position = 0; position < 10; position += 1) {
      const { item } = (await call('POST', `${made.path}/reservations`)).body;
      const differs = reviewer === 1 && position < 3;
      const wrong = differs ? 'Policy' : 'Tone';
      const answer = made.answers((position % 2 === 0) !== differs, {
        wrong,
        useful: differs ? -5 : position,
        text: 'x',
      });
      expect((await call('POST', `${made.path}/items/${item.id}/reviews`, answer)).status).toBe(201);
    }
  }
  const all = (await lead('GET', '/reviewers?pageSize=100')).body.data as Json[];
  const idOf = (name: string) => all.find((one) => one.name === `${name} ${suffix}`).id as string;
  return { ...made, runs, wren, heron, ids: { ...made.ids, wren: idOf('wren'), heron: idOf('heron') } };
}

test.each(ways)('%s: agreement is measured per item of the rubric', async (way) => {
  const { path, ids, runs } = await reviewed();
  const { storage } = host.host;
  const judge = storage.judges.create({
    name: 'Strict',
    promptText: '{{answer}}',
    aiSystem: 'OpenAi',
    model: 'm',
    verdict: { kind: 'passOrFail' },
  });
  for (const { runId } of runs)
    storage.judges.setVerdict(judge.sequence, { runId, judgeHash: 'h', judgeRunId: randomUUID(), verdict: 'pass' });
  const { status, body } = await callJson(host, way, 'GET', `${path}/agreement`);
  expect(status).toBe(200);
  const { doneItems, reviewers, items } = body as ReviewAgreement;
  expect([doneItems, reviewers.map(({ id }) => id).toSorted()]).toEqual([10, [ids.wren, ids.heron].toSorted()]);
  const [right, wrong, useful, text] = items;
  expect(right).toMatchObject({ kind: 'yesNo', ratedItems: 10, percent: 0.7, reason: null });
  expect(right!.matrix!.labels).toEqual(['yes', 'no']);
  expect(right!.matrix!.rows.flat().reduce((sum, count) => sum + count)).toBe(10);
  expect(right!.kappa).toBeCloseTo(0.4, 1);
  expect(right!.alpha).toBeGreaterThan(0.3);
  expect(right!.interval![0]).toBeLessThan(right!.alpha!);
  expect(right!.pairs).toMatchObject([{ ratedItems: 10, percent: 0.7, firstId: expect.any(String) }]);
  expect(right!.against.map(({ kind, name, ratedItems }) => [kind, name, ratedItems])).toEqual([
    ['judge', 'Strict', 7],
    ['moderation', 'Guard: flagged', 2],
    ...['sexual', 'hatred', 'harassment', 'self-harm', 'violence'].map((name) => ['moderation', `Guard: ${name}`, 2]),
  ]);
  expect(body).toMatchObject({ judgedItems: 10, moderatedItems: 2 });
  // A cell of the matrix of a judge has the items that are counted in it.
  const [judged] = right!.against;
  expect(judged!.matrix!.labels).toEqual(['pass', 'fail']);
  for (const [row, label] of ['pass', 'fail'].entries())
    for (const [column, other] of ['pass', 'fail'].entries()) {
      const cell = `against=${judged!.id}&firstValue=${label}&secondValue=${other}`;
      const found = await lead('GET', `${path}/disagreements?rubricItemId=${ids.right}&${cell}`);
      expect(found.body.total).toBe(judged!.matrix!.rows[row]![column]);
    }
  const guarded = await lead('GET', `${path}/disagreements?rubricItemId=${ids.right}&against=flagged`);
  expect(guarded.body.total).toBe(2 - Math.round(right!.against[1]!.percent! * 2));
  expect(wrong).toMatchObject({ percent: 0.7, matrix: { labels: ['Policy', 'Tone'] }, against: [] });
  expect(useful).toMatchObject({ kind: 'score', percent: 0.7 });
  expect(text).toMatchObject({
    percent: null,
    kappa: null,
    alpha: null,
    matrix: null,
    reason: 'Text is not measured.',
  });
});

test.each(ways)(
  '%s: a person chooses which answer is compared with a flag of the guard and with a pass',
  async (way) => {
    const workspaceId = randomUUID();
    const { storage } = host.host;
    const judge = storage.judges.create({
      name: `Polite ${workspaceId}`,
      promptText: '{{answer}}',
      aiSystem: 'OpenAi',
      model: 'm',
      verdict: { kind: 'passOrFail' },
    });
    const cases = [
      { flags: ['violence'], verdict: 'fail', right: false, wrong: 'Tone' },
      { flags: [], verdict: 'pass', right: true, wrong: 'Policy' },
      { flags: ['selfHarm'], verdict: 'pass', right: false, wrong: 'Policy' },
    ] as const;
    for (const { flags, verdict } of cases) {
      const outcome = { moderation: { prompt: null, answer: { ...flagged.prompt, categories: flags } } };
      const { runId } = await recordRun(host.host, { workspaceId } as never, outcome as never);
      storage.judges.setVerdict(judge.sequence, { runId, judgeHash: 'h', judgeRunId: randomUUID(), verdict });
    }
    const { path, ids, answers } = await createQueue({ workspaceId });
    // The newest is first.
    for (const { right, wrong } of cases.toReversed()) {
      const { item } = (await lead('POST', `${path}/reservations`)).body;
      await lead('POST', `${path}/items/${item.id}/reviews`, answers(right, { wrong }));
    }
    const read = async (query: string) => {
      const { status, body } = await callJson(host, way, 'GET', `${path}/agreement?${query}`);
      expect([status, body]).toEqual([200, expect.any(Object)]);
      return (body as ReviewAgreement).items;
    };
    const rowsOf = (item: ReviewAgreement['items'][number], id: string) => {
      const { matrix } = item.against.find((one) => one.id === id)!;
      return [matrix!.labels, ...matrix!.rows];
    };
    const flags = ['flagged', 'notFlagged'];
    const [usual, category] = await read('');
    expect([usual!.passValue, usual!.flaggedValue, category!.passValue, category!.flaggedValue]).toEqual([
      'yes',
      'yes',
      null,
      null,
    ]);
    expect(rowsOf(usual!, 'flagged')).toEqual([flags, [0, 1], [2, 0]]);
    expect(category!.against).toEqual([]);
    const [right] = await read(`rubricItemId=${ids.right}&flaggedValue=no`);
    expect(rowsOf(right!, 'flagged')).toEqual([flags, [2, 0], [0, 1]]);
    expect(rowsOf(right!, 'flagged:violence')).toEqual([flags, [1, 1], [0, 1]]);
    expect(rowsOf(right!, 'flagged:hatred')).toEqual([flags, [0, 2], [0, 1]]);
    const [, wrong] = await read(`rubricItemId=${ids.wrong.toUpperCase()}&flaggedValue=Tone&passValue=Policy`);
    expect([wrong!.passValue, wrong!.flaggedValue]).toEqual(['Policy', 'Tone']);
    expect(rowsOf(wrong!, judge.id)).toEqual([
      ['pass', 'fail'],
      [2, 0],
      [0, 1],
    ]);
    expect(rowsOf(wrong!, 'flagged:selfHarm')).toEqual([flags, [0, 1], [1, 1]]);
    // A cell has the items that it counts, with what was said about them.
    const cell = 'against=flagged:selfHarm&firstValue=notFlagged&secondValue=flagged&flaggedValue=Tone';
    const found = (await lead('GET', `${path}/disagreements?rubricItemId=${ids.wrong}&${cell}`)).body;
    expect(found).toMatchObject({ total: 1, data: [{ item: { position: 0 } }] });
    expect(found.data[0].outside.map(({ name, value }: Json) => [name, value])).toEqual([
      ['Guard: flagged', 'flagged'],
      ['Guard: self-harm', 'flagged'],
    ]);
    for (const query of [
      'flaggedValue=yes',
      `rubricItemId=${ids.right}&flaggedValue=maybe`,
      `rubricItemId=${ids.useful}&passValue=5`,
      `rubricItemId=${ids.wrong}&passValue=yes`,
      `rubricItemId=${randomUUID()}&passValue=yes`,
    ]) {
      const { status, body } = await callJson(host, way, 'GET', `${path}/agreement?${query}`);
      expect([query, status, body.error.code]).toEqual([query, 400, 'invalid_request']);
    }
    const unknown = await lead('GET', `${path}/disagreements?rubricItemId=${ids.useful}&passValue=5`);
    expect(unknown.status).toBe(400);
  },
);

test('what can not be computed is null with a reason', async () => {
  const { workspaceId } = await recordRuns(2);
  const { path, answers } = await createQueue({ workspaceId });
  const [right] = (await lead('GET', `${path}/agreement`)).body.items;
  expect(right).toMatchObject({ ratedItems: 0, percent: null, kappa: null, alpha: null, interval: null });
  expect(right.reason).toMatch(/\w/);
  const { item } = (await lead('POST', `${path}/reservations`)).body;
  await lead('POST', `${path}/items/${item.id}/reviews`, answers(true));
  expect((await lead('GET', `${path}/agreement`)).body).toMatchObject({
    doneItems: 1,
    items: [{ percent: null }, {}, {}, {}],
  });
});

test('disagreements are found by item of the rubric and by cell of the matrix', async () => {
  const { path, ids, wren } = await reviewed();
  const find = async (query: string, call = lead) => (await call('GET', `${path}/disagreements?${query}`)).body;
  const all = await find(`rubricItemId=${ids.wrong}`);
  expect([all.total, all.data.map(({ item }: Json) => item.position)]).toEqual([3, [0, 1, 2]]);
  expect(all.data[0].reviews).toHaveLength(2);
  const pair = `rubricItemId=${ids.wrong}&first=${ids.wren}&second=${ids.heron}`;
  expect((await find(`${pair}&firstValue=Tone&secondValue=Policy`)).total).toBe(3);
  expect((await find(`${pair}&firstValue=Policy&secondValue=Tone`)).total).toBe(0);
  expect((await find(`${pair}&firstValue=Tone&secondValue=Tone`)).total).toBe(7);
  expect((await find(`${pair}&limit=1&offset=1`)).data[0].item.position).toBe(1);
  expect((await find(pair, wren)).total).toBe(3);
  expect((await find(pair, reviewerCalled(`stranger ${ids.wren}`))).total).toBe(3);
  const { id } = all.data[0].item;
  await lead('PUT', `${path}/items/${id}/gold`, { answers: [{ rubricItemId: ids.wrong, value: 'Policy' }] });
  expect((await find(`rubricItemId=${ids.wrong}&isUndecided=true`)).total).toBe(2);
  expect((await find(`rubricItemId=${ids.wrong}&isUndecided=false`)).total).toBe(1);
  // The decision on one item of the rubric leaves the others undecided.
  expect((await find(`rubricItemId=${ids.right}&isUndecided=true`)).total).toBe(3);
  expect((await find(`rubricItemId=${ids.right}&isUndecided=false`)).total).toBe(0);
});

test('reviews of others stay hidden in the disagreements until the queue is complete', async () => {
  const { workspaceId } = await recordRuns(3);
  const { path, answers, ids } = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
  const [one, other, third] = ['a', 'b', 'c'].map((name) => reviewerCalled(`${name} ${workspaceId}`)) as [
    typeof lead,
    typeof lead,
    typeof lead,
  ];
  for (const [index, call] of [one, other].entries()) {
    const { item } = (await call('POST', `${path}/reservations`)).body;
    await call('POST', `${path}/items/${item.id}/reviews`, answers(index === 0));
  }
  const find = async (call: typeof lead) =>
    (await call('GET', `${path}/disagreements?rubricItemId=${ids.right}`)).body.total;
  expect([await find(one), await find(third), await find(lead)]).toEqual([1, 0, 1]);
});

test.each(ways)('%s: reviews are exported as CSV, preferences and evidence', async (way) => {
  const { path, ids, wren } = await reviewed();
  const read = async (format: string) => {
    const { status, text, headers } = await host.send(way, jsonRequest(host, 'GET', `${path}/export?format=${format}`));
    expect([status, headers['content-security-policy']]).toEqual([200, "sandbox; default-src 'none'"]);
    return text;
  };
  const csv = (await read('csv')).trimEnd().split('\r\n');
  expect(csv).toHaveLength(1 + 10 * 4);
  expect(csv[0]).toMatch(
    /^item,conversation,run,stratum,flagged,question,heron \w+,wren \w+,final,decided by,heron \w+: note,wren \w+: note,discussion$/,
  );
  expect(csv[2]).toMatch(/^1,.*,What went wrong\?,Policy,Tone,,,,,$/);
  const preferences = (await read('preferences'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
  expect(preferences).toHaveLength(10);
  expect(preferences[0]).toMatchObject({
    input: { messages: [{ role: 'system' }, { role: 'user', content: 'Question 9' }] },
    preferred_output: [{ role: 'assistant', content: 'x' }],
  });
  const page = await read('evidence');
  expect(page).toContain('<td>Seed</td><td>7</td>');
  expect(page).toContain('<td>Everything that matches the filter</td>');
  expect(page).toContain('<td>10 runs</td>');
  expect(page).toContain('Text is not measured.');
  expect(page.match(/<h3>/g)).toHaveLength(10);
  // Three of the ten are undecided.
  expect(page).toMatch(/<td>Is it right\?<\/td><td>yes<\/td><td>\d+ of 7<\/td><td>3<\/td><td>[\d.]+ % \(95 %: /);
  await lead('PUT', `${path}/items/${(await lead('GET', `${path}/items`)).body.data[0].id}/gold`, {
    answers: [{ rubricItemId: ids.wrong, value: 'Policy', note: '<script>' }],
  });
  expect(await read('evidence')).not.toContain('<script>');
  expect((await wren('GET', `${path}/export?format=csv`)).status).toBe(200);
});

test.each([{ kind: 'newest', perDay: 2 }, { kind: 'all' }])(
  'evidence of the first items by %j extrapolates nothing',
  async (plan) => {
    const { workspaceId } = await recordRuns(4);
    const { path, answers } = await createQueue({ workspaceId }, { plan });
    const { item } = (await lead('POST', `${path}/reservations`)).body;
    await lead('POST', `${path}/items/${item.id}/reviews`, answers(true));
    const { text } = await host.send('in memory', jsonRequest(host, 'GET', `${path}/export?format=evidence`));
    expect(text).toContain('<td>1 of 1</td><td>0</td><td>Unknown: the reviewed items are not a random sample</td>');
    expect(text).not.toMatch(/% \(95 %/);
  },
);

test('exports of an unfinished queue need the scope manage', async () => {
  const { workspaceId } = await recordRuns(2);
  const { path } = await createQueue({ workspaceId });
  const reader = reviewerCalled(`reader ${workspaceId}`);
  for (const format of ['csv', 'preferences', 'evidence'])
    expect((await reader('GET', `${path}/export?format=${format}`)).status).toBe(403);
  expect((await lead('POST', `${path}/dataset`, { name: 'Empty' })).status).toBe(409);
});

test('a text is a correction only where the rubric says so', async () => {
  const { workspaceId } = await recordRuns(1);
  const { queue, path, ids } = await createQueue({ workspaceId });
  const version = async (isCorrection: boolean) =>
    await lead('POST', `/rubrics/${queue.rubric.id}/versions`, {
      items: [{ id: ids.text, kind: 'text', question: 'Anything else?', isCorrection }],
    });
  expect((await version(false)).status).toBe(201);
  const other = (
    await lead('POST', '/review-queues', {
      name: 'Remarks',
      filter: { workspaceId },
      itemType: 'run',
      plan: { kind: 'all' },
      rubricId: queue.rubric.id,
    })
  ).body;
  for (const each of [path, `/review-queues/${other.id}`]) {
    const { item } = (await lead('POST', `${each}/reservations`)).body;
    const answers = [
      ...(each === path ? [{ rubricItemId: ids.right, value: false }] : []),
      { rubricItemId: ids.text, value: 'x' },
    ];
    expect((await lead('POST', `${each}/items/${item.id}/reviews`, { answers })).status).toBe(201);
    const request = jsonRequest(host, 'GET', `${each}/export?format=preferences`);
    const { text } = await host.send('in memory', request);
    expect(text === '').toBe(each !== path);
    const made = await lead('POST', `${each}/dataset`, { name: 'Corrected', expected: {} });
    expect(made.status).toBe(each === path ? 202 : 400);
  }
  const two = [
    { kind: 'text', question: 'a', isCorrection: true },
    { kind: 'text', question: 'b', isCorrection: true },
  ];
  expect((await lead('POST', '/rubrics', { name: 'Two', items: two })).status).toBe(400);
  const [text] = two;
  expect((await lead('POST', '/rubrics', { name: 'Score', items: [{ ...text, kind: 'score' }] })).status).toBe(400);
});

test('a dataset expects corrections and answers that pass, and nothing else', async () => {
  const { workspaceId, runs } = await recordRuns(3);
  const { path, ids, answers } = await createQueue({ workspaceId });
  // The newest is first: it is right, the next one is corrected, and the last one is only wrong.
  for (const answer of [answers(true), answers(false, { text: 'Better' }), answers(false)]) {
    const { item } = (await lead('POST', `${path}/reservations`)).body;
    await lead('POST', `${path}/items/${item.id}/reviews`, answer);
  }
  const rowsOf = async (input: object) => {
    const job = (await lead('POST', `${path}/dataset`, { name: 'Reviewed', ...input })).body;
    await expect.poll(async () => (await lead('GET', `/dataset-jobs/${job.id}`)).body.state).toBe('completed');
    const { datasetId } = (await lead('GET', `/dataset-jobs/${job.id}`)).body;
    const { columns } = (await lead('GET', `/datasets/${datasetId}`)).body;
    const { data } = (await lead('GET', `/datasets/${datasetId}/rows`)).body;
    const expected = new Map(data.map(({ values }: Json) => [values['run ID'], values['expected answer'] ?? null]));
    return [
      columns.filter(({ type }: Json) => type === 'expected').length,
      ...runs.map(({ runId }) => expected.get(runId)),
    ];
  };
  const answer = (await lead('GET', `/conversations/${runs[2]!.conversationId}`)).body.runs[0].output.content;
  expect(await rowsOf({})).toEqual([0, null, null, null]);
  expect(await rowsOf({ expected: {} })).toEqual([1, null, 'Better', null]);
  expect(await rowsOf({ expected: { rubricItemId: ids.right } })).toEqual([1, null, 'Better', answer]);
  expect((await lead('POST', `${path}/dataset`, { name: 'x', expected: { rubricItemId: ids.wrong } })).status).toBe(
    400,
  );
});

test('a dataset has the final value of each item of the rubric, whatever their names', async () => {
  const long = `${'Is '.repeat(90)}it?`;
  const items = [
    ...rubricItems,
    ...[1, 2].map(() => ({ kind: 'score', question: long, isRequired: false })),
    ...Array.from({ length: 44 }, (_, index) => ({
      kind: 'yesNo',
      question: `Is it ${index}\nright?`,
      isRequired: false,
    })),
  ];
  const rubric = (await lead('POST', '/rubrics', { name: 'Many', items })).body;
  const ids = rubric.items.map(({ id }: Json) => id) as string[];
  const reviewers = ['a', 'b'].map((name) => reviewerCalled(`${name} ${randomUUID().slice(0, 8)}`));
  async function reviewedRun(replacements: Record<string, string>): Promise<string> {
    const { workspaceId } = await recordRuns(1, () => ({ replacements }));
    const { path } = await createQueue({ workspaceId }, { rubricId: rubric.id, reviewersPerItem: 2 });
    for (const [index, call] of reviewers.entries()) {
      const { item } = (await call('POST', `${path}/reservations`)).body;
      const values = [true, 'Tone', index, 'Text', 7, -3, false];
      const answers = values.map((value, at) => ({ rubricItemId: ids[at], value }));
      expect((await call('POST', `${path}/items/${item.id}/reviews`, { answers })).status).toBe(201);
    }
    return path;
  }
  const make = async (path: string, input: object = {}) => {
    const job = (await lead('POST', `${path}/dataset`, { name: 'Reviewed', ...input })).body;
    await expect
      .poll(async () => (await lead('GET', `/dataset-jobs/${job.id}`)).body.state)
      .toMatch(/^(completed|failed)$/);
    return (await lead('GET', `/dataset-jobs/${job.id}`)).body;
  };
  // Its values would be those of the variable.
  const colliding = await reviewedRun({ 'review: Is it right?': 'x' });
  expect(JSON.stringify(await make(colliding))).toContain(
    'has a variable with the name of the column \\"review: Is it right?',
  );
  const without = await make(colliding, { ratings: false });
  expect(JSON.stringify((await lead('GET', `/datasets/${without.datasetId}`)).body)).not.toContain('Is it 43');

  const { datasetId } = await make(await reviewedRun({ city: 'Turku' }));
  const { columns } = (await lead('GET', `/datasets/${datasetId}`)).body;
  const cut = `review: ${long}`.slice(0, 200);
  const own = columns.filter(({ name }: Json) => name.startsWith('review: '));
  expect(own.slice(0, 7)).toEqual([
    { name: 'review: Is it right?', type: 'json' },
    { name: 'review: What went wrong?', type: 'text' },
    { name: 'review: How useful is it?', type: 'json' },
    { name: 'review: What should it have said?', type: 'text' },
    { name: cut, type: 'json' },
    { name: `${cut.slice(0, 196)} (2)`, type: 'json' },
    { name: 'review: Is it 0 right?', type: 'json' },
  ]);
  expect(own).toHaveLength(50);
  const [{ values }] = (await lead('GET', `/datasets/${datasetId}/rows`)).body.data;
  expect(values).toMatchObject({ city: 'Turku', 'review: Is it right?': true, 'review: What went wrong?': 'Tone' });
  expect([values[cut], values[`${cut.slice(0, 196)} (2)`], values['review: Is it 0 right?']]).toEqual([7, -3, false]);
});

test('skips, notes and discussions are exported, and a decision leaves other questions undecided', async () => {
  const { workspaceId, runs } = await recordRuns(1);
  const { path, answers, ids } = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
  const suffix = randomUUID().slice(0, 8);
  const [wren, heron, finch] = ['wren', 'heron', 'finch'].map((name) => reviewerCalled(`${name} ${suffix}`)) as [
    typeof lead,
    typeof lead,
    typeof lead,
  ];
  const { item } = (await finch('POST', `${path}/reservations`)).body;
  const at = `${path}/items/${item.id}`;
  await finch('POST', `${at}/skip`, { reason: 'I wrote it' });
  await lead('PUT', `/conversations/${runs[0]!.conversationId}/runs/${runs[0]!.runId}/feedback`, {
    scoreTags: 'mine',
    scoreText: 'Mine',
  });
  for (const [index, call] of [wren, heron].entries()) {
    await call('POST', `${path}/reservations`);
    const wrong = index === 0 ? 'Policy' : 'Tone';
    const given = { ...answers(index === 0, { wrong, useful: 2, text: `${index}` }), note: `Note ${index}` };
    expect((await call('POST', `${at}/reviews`, given)).status).toBe(201);
  }
  expect((await wren('POST', `${at}/comments`, { text: 'The <terms> say so.' })).status).toBe(201);
  const disagreeing = async () => (await lead('GET', path)).body.counts.disagreeing;
  const decide = async (answer: object) => await lead('PUT', `${at}/gold`, { answers: [answer] });
  expect(await disagreeing()).toBe(1);
  const conversation = (await lead('GET', `/conversations/${runs[0]!.conversationId}`)).body;
  // They agree on no tag and on no text, so those stay.
  expect(conversation.runs[0].feedback).toMatchObject({ score: 2, scoreTags: 'mine', scoreText: 'Mine' });
  await decide({ rubricItemId: ids.right, value: true });
  expect(await disagreeing()).toBe(1);
  await decide({ rubricItemId: ids.wrong, value: 'Tone' });
  expect(await disagreeing()).toBe(0);
  const read = async (format: string) =>
    (await host.send('in memory', jsonRequest(host, 'GET', `${path}/export?format=${format}`))).text;
  const csv = await read('csv');
  for (const part of ['Skipped: I wrote it', 'Note 0', 'Note 1', `wren ${suffix}: The <terms> say so.`])
    expect(csv).toContain(part);
  const page = await read('evidence');
  expect(page).toContain(`<td>finch ${suffix}</td><td>Skipped</td><td></td><td>I wrote it</td>`);
  expect(page).toContain('The &lt;terms&gt; say so.');
});

test('a dataset and labels for a judge come from the final values', async () => {
  const { path, ids, runs } = await reviewed();
  const job = (await lead('POST', `${path}/dataset`, { name: 'Reviewed' })).body;
  await expect.poll(async () => (await lead('GET', `/dataset-jobs/${job.id}`)).body.state).toBe('completed');
  const { datasetId } = (await lead('GET', `/dataset-jobs/${job.id}`)).body;
  const { data, total } = (await lead('GET', `/datasets/${datasetId}/rows`)).body;
  expect([total, data[3].values['feedback tags']]).toEqual([10, 'Tone']);
  const judge = (
    await lead('POST', '/judges', {
      name: 'Strict',
      promptText: '{{answer}}',
      aiSystem: 'OpenAiCompatible',
      model: 'scripted/model',
      verdict: { kind: 'passOrFail' },
    })
  ).body;
  const calibrate = async (rubricItemId: string) =>
    await lead('POST', `${path}/calibration`, { judgeId: judge.id, rubricItemId });
  expect((await calibrate(ids.right)).body).toEqual({ added: 7, skipped: 3 });
  expect((await calibrate(ids.useful)).body).toEqual({ added: 3, skipped: 7 });
  expect((await calibrate(ids.text)).status).toBe(400);
  expect((await calibrate(ids.wrong)).body.error.details).toMatchObject([{ field: 'passValue' }]);
  const labels = (await lead('GET', `/judges/${judge.id}/labels`)).body.data as Json[];
  expect(new Set(labels.map(({ runId }) => runId))).toEqual(new Set(runs.map(({ runId }) => runId)));
});

test('a person chooses which answer passes, for labels of a judge and for a dataset', async () => {
  const { workspaceId, runs } = await recordRuns(3);
  const { path, ids, answers } = await createQueue({ workspaceId });
  // The newest is first.
  for (const answer of [answers(true, { wrong: 'Tone' }), answers(false, { wrong: 'Policy' }), answers(false)]) {
    const { item } = (await lead('POST', `${path}/reservations`)).body;
    await lead('POST', `${path}/items/${item.id}/reviews`, answer);
  }
  const labelsBy = async (pass: object) => {
    const judge = await lead('POST', '/judges', {
      name: `Safe ${randomUUID()}`,
      promptText: '{{answer}}',
      aiSystem: 'OpenAiCompatible',
      model: 'scripted/model',
      verdict: { kind: 'passOrFail' },
    });
    const { status, body } = await lead('POST', `${path}/calibration`, { judgeId: judge.body.id, ...pass });
    if (status !== 200) return [status, body.error.details[0].field];
    const labels = (await lead('GET', `/judges/${judge.body.id}/labels`)).body.data as Json[];
    return runs.toReversed().map(({ runId }) => labels.find((one) => one.runId === runId)?.label);
  };
  const [right, wrong] = [{ rubricItemId: ids.right }, { rubricItemId: ids.wrong }];
  expect(await labelsBy(right)).toEqual(['pass', 'fail', 'fail']);
  expect(await labelsBy({ ...right, passValue: 'no' })).toEqual(['fail', 'pass', 'pass']);
  expect(await labelsBy({ ...wrong, passValue: 'Policy' })).toEqual(['fail', 'pass', undefined]);
  expect(await labelsBy(wrong)).toEqual([400, 'passValue']);
  expect(await labelsBy({ ...wrong, passValue: 'yes' })).toEqual([400, 'passValue']);
  expect(await labelsBy({ rubricItemId: ids.useful, passValue: 'yes' })).toEqual([400, 'passValue']);
  expect(await labelsBy({ rubricItemId: ids.text })).toEqual([400, 'rubricItemId']);

  const expected = { ...right, passValue: 'no' };
  const job = (await lead('POST', `${path}/dataset`, { name: 'Safe', expected })).body;
  await expect.poll(async () => (await lead('GET', `/dataset-jobs/${job.id}`)).body.state).toBe('completed');
  const { datasetId } = (await lead('GET', `/dataset-jobs/${job.id}`)).body;
  const { data } = (await lead('GET', `/datasets/${datasetId}/rows`)).body;
  const isExpected = data.map(({ values }: Json) => [
    values['review: Is it right?'],
    values['expected answer'] != null,
  ]);
  expect(isExpected).toEqual(
    expect.arrayContaining([
      [true, false],
      [false, true],
      [false, true],
    ]),
  );
  const unknown = await lead('POST', `${path}/dataset`, { name: 'Safe', expected: { ...right, passValue: 'maybe' } });
  expect([unknown.status, unknown.body.error.details[0].field]).toEqual([400, 'expected.passValue']);
});
