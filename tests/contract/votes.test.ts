// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { BlindVote } from '../../shared/contract/blind-votes.ts';
import type { ComparisonCell } from '../../shared/contract/comparison-results.ts';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const [way] = ways;
const unknown = '00000000-0000-4000-8000-000000000000';
const provider = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[]).at(-1)!.content;

/** Answers with the prompt; judges give the one verdict on answers of the variant A, and the other on others. */
function replyWith(onA: unknown, onOther: unknown): (call: ScriptedCall) => void {
  return (call) => {
    const prompt = promptOf(call);
    const verdict = JSON.stringify({
      reason: `Because ${prompt.length}`,
      verdict: prompt.includes('A:') ? onA : onOther,
    });
    const content = prompt.startsWith('Judge') ? verdict : prompt;
    if (call.body['stream'] === true) call.chatStream([content]);
    else call.chatAnswer({ content });
  };
}

const reply = replyWith('pass', 'fail');

beforeEach(() => host.provider.answerWith(reply));

async function disagreeingRows(id: string): Promise<number[]> {
  const address = `http://test/window/comparisons/${id}/rows?filter=disagrees`;
  const answer = await host.host.api.fetch(new Request(address), { access: 'window' });
  const { data } = (await answer.json()) as { data: { position: number }[] };
  return data.map(({ position }) => position);
}

interface Compared {
  readonly id: string;
  readonly judgeId: string;
  cells(query?: string, key?: string): Promise<ComparisonCell[]>;
  vote(cell: Partial<ComparisonCell>, vote: object, key?: string): ReturnType<typeof callJson>;
}

type ChecksOf = (judge: object) => object[];

interface Change extends Record<string, unknown> {
  readonly verdict?: object;
  readonly checksOf?: ChecksOf;
}

const judgeOnly: ChecksOf = (judge) => [judge];
const inner: ChecksOf = (judge) => [{ kind: 'all', checks: [{ kind: 'length', max: 1 }, judge] }];
const invertedInner: ChecksOf = (judge) => [{ kind: 'any', not: true, checks: [{ kind: 'length', min: 1 }, judge] }];

/** A comparison of A and B over so many rows, which has completed. */
async function compare(
  rowCount = 3,
  { verdict = { kind: 'passOrFail' }, checksOf = judgeOnly, ...change }: Change = {},
): Promise<Compared> {
  const call = (method: string, path: string, body?: unknown, key = host.key) =>
    callJson(host, way, method, path, { key, ...(body === undefined ? {} : { body }) });
  const dataset = await call('POST', '/datasets', {
    name: 'T',
    columns: [{ name: 'ticket', type: 'text' }],
    rows: Array.from({ length: rowCount }, (_, row) => ({ ticket: `ticket ${row}` })),
  });
  const judge = await call('POST', '/judges', {
    name: 'Strict',
    promptText: 'Judge {{answer}}',
    verdict,
    ...provider,
  });
  const created = await call('POST', '/comparisons', {
    name: 'A or B',
    datasetId: dataset.body.id,
    variants: ['A', 'B'].map((name) => ({ name, prompt: { promptText: `${name}: {{ticket}}` }, ...provider })),
    checks: checksOf({ kind: 'judge', judgeId: judge.body.id }),
    ...change,
  });
  expect([created.status, created.body]).toEqual([201, expect.any(Object)]);
  const path = `/comparisons/${created.body.id}`;
  await call('POST', `${path}/start`);
  await expect.poll(async () => (await call('GET', path)).body.state).toBe('Completed');
  return {
    id: created.body.id,
    judgeId: judge.body.id,
    cells: async (query = '', key = host.key) => (await call('GET', `${path}/cells${query}`, undefined, key)).body.data,
    vote: ({ rowId, variant, repeat }, vote, key = host.key) =>
      call('PUT', `${path}/votes`, { cell: { rowId, variant, repeat }, ...vote }, key),
  };
}

describe('votes on cells', () => {
  test('are kept for each voter, replaced and removed, and are in the cells with the verdicts of judges', async () => {
    const { id, judgeId, cells, vote } = await compare();
    const [cell] = await cells();
    expect(cell).toMatchObject({ votes: [], verdicts: [{ judgeId, judge: 'Strict', verdict: 'pass', pass: true }] });
    expect(cell!.verdicts[0]).toMatchObject({ counts: false, isStale: false, runId: expect.any(String) });
    expect(cell!.verdicts[0]!.reason).toContain('Because');
    expect((await vote(cell!, { vote: 'fail', note: ' Too short. ' })).status).toBe(200);
    const other = host.issueKey({ name: 'Anna', scopes: ['run', 'audit', 'manage'] });
    const both = await vote(cell!, { vote: 'pass' }, other);
    expect(both.body.data).toEqual([
      { voter: 'Anna', isOwn: true, vote: 'pass', note: null, updatedAt: expect.any(String) },
      { voter: expect.any(String), isOwn: false, vote: 'fail', note: 'Too short.', updatedAt: expect.any(String) },
    ]);
    expect((await cells('?variant=A'))[0]!.votes.map(({ isOwn }) => isOwn)).toEqual([false, true]);
    expect((await vote(cell!, { note: 'Only a note' }, other)).body.data[0]).toMatchObject({ vote: null });
    expect((await vote(cell!, {}, other)).body.data).toHaveLength(1);
    expect(await disagreeingRows(id)).toEqual([0]);
    await vote(cell!, { vote: 'pass' });
    expect(await disagreeingRows(id)).toEqual([]);
    await callJson(host, way, 'PUT', `/judges/${judgeId}`, {
      body: { name: 'Strict', promptText: 'Judge: {{answer}}', verdict: { kind: 'passOrFail' }, ...provider },
    });
    expect((await cells())[0]!.verdicts[0]).toMatchObject({ isStale: true });
    await callJson(host, way, 'DELETE', `/judges/${judgeId}`);
    expect((await cells())[0]!.verdicts).toEqual([]);
    expect((await callJson(host, way, 'DELETE', `/comparisons/${id}`)).status).toBe(204);
    expect((await vote(cell!, { vote: 'pass' })).status).toBe(404);
  });

  test.each([
    ['inside other checks', inner, { kind: 'passOrFail' }, ['fail', 'pass']],
    ['inside an inverted check', invertedInner, { kind: 'passOrFail' }, ['pass', 'fail']],
    ['that gives scores', inner, { kind: 'score', min: 1, max: 5, passFrom: 4 }, ['fail', 'pass']],
  ] as const)('disagree with a judge %s', async (_where, checksOf, verdict, [onA, onB]) => {
    if (verdict.kind === 'score') host.provider.answerWith(replyWith(5, 2));
    const { id, cells, vote } = await compare(3, { checksOf, verdict });
    const all = await cells();
    await vote(all[0]!, { vote: onB });
    expect(await disagreeingRows(id)).toEqual([]);
    await vote(all[2]!, { vote: onA });
    await vote(all[5]!, { vote: onB });
    expect(await disagreeingRows(id)).toEqual([1, 2]);
  });

  test('need a completed cell, and the right to read its run', async () => {
    host.provider.answerWith((call) => (promptOf(call).startsWith('B') ? call.fail(400, 'no') : reply(call)));
    const { cells, vote } = await compare(1);
    const [first, failed] = (await cells()) as [ComparisonCell, ComparisonCell];
    for (const [cell, body, field] of [
      [{ ...first, rowId: 'unknown' }, { vote: 'pass' }, 'cell.rowId'],
      [{ ...first, variant: 'C' }, { vote: 'pass' }, 'cell.variant'],
      [{ ...first, repeat: 2 }, { vote: 'pass' }, 'cell.repeat'],
      [failed, { vote: 'pass' }, 'cell'],
      [first, { vote: 'good' }, 'vote'],
      [first, { note: 'x'.repeat(2001) }, 'note'],
      [first, { stars: 5 }, 'stars'],
    ] as const) {
      expect(rejectionOf(await vote(cell, body))).toMatchObject([400, 'invalid_request', [{ field }]]);
    }
    await vote(first, { vote: 'pass', note: 'Fine' });
    const stranger = host.issueKey({ scopes: ['run', 'manage'] });
    expect(rejectionOf(await vote(first, { vote: 'pass' }, stranger))).toEqual([403, 'forbidden', []]);
    const [seen] = await cells('', stranger);
    expect(seen).toMatchObject({ answer: null, votes: [{ voter: null, isOwn: false, vote: 'pass', note: null }] });
    expect(seen!.verdicts).toMatchObject([{ pass: true, reason: null }]);
    const reader = host.issueKey({ scopes: ['run'] });
    expect((await vote(first, { vote: 'pass' }, reader)).status).toBe(403);
  });

  test('are exported as preferences, for who may read the runs', async () => {
    const { id, cells, vote } = await compare(2);
    const [first, second] = await cells();
    await vote(first!, { vote: 'fail' });
    await vote(second!, { vote: 'pass' });
    const exported = async (key: string) => {
      const path = `/comparisons/${id}/export?format=preferences`;
      const { text } = await host.send(way, { method: 'GET', path, headers: { authorization: `Bearer ${key}` } });
      return text === ''
        ? []
        : text
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
    };
    expect(await exported(host.key)).toEqual([
      {
        prompt: [{ role: 'user', content: 'B: ticket 0' }],
        chosen: [{ role: 'assistant', content: 'B: ticket 0' }],
        rejected: [{ role: 'assistant', content: 'A: ticket 0' }],
        row: 1,
        repeat: 1,
        chosenVariant: 'B',
        rejectedVariant: 'A',
        source: 'votes',
      },
    ]);
    expect(await exported(host.issueKey({ scopes: ['run'] }))).toEqual([]);
  });

  test('are exported as preferences with the messages that were sent', async () => {
    const promptText = ['system', 'user', 'model', 'user'].map((role) => `{{role "${role}"}}\n${role}: {{ticket}}`);
    const prompt = { promptText: promptText.join('\n'), systemMessage: 'Be kind.' };
    const variants = ['A', 'B'].map((name) => ({ name, prompt, ...provider }));
    const { id, cells, vote } = await compare(1, { variants, checks: [] });
    const sent = host.provider.calls.at(-1)!.body['messages'] as { role: string; content: string }[];
    expect(sent.map(({ role }) => role).slice(-3)).toEqual(['user', 'assistant', 'user']);
    const [first, second] = await cells();
    await vote(first!, { vote: 'fail' });
    await vote(second!, { vote: 'pass' });
    const path = `/comparisons/${id}/export?format=preferences`;
    const { text } = await host.send(way, { method: 'GET', path, headers: { authorization: `Bearer ${host.key}` } });
    expect(JSON.parse(text).prompt).toEqual(sent);
  });

  test('are exported beside the preferences of judges, which are marked', async () => {
    const { id, cells } = await compare(1);
    const [first, second] = await cells();
    const judge = await callJson(host, way, 'POST', '/judges', {
      body: {
        name: 'Warmer',
        promptText: '{{first}} or {{second}}?',
        verdict: { kind: 'preference' },
        ...provider,
      },
    });
    const judgePair = async (winner: string) => {
      host.provider.answerWith((call) => {
        const preferred = promptOf(call).startsWith(`${winner}: `) ? 'first' : 'second';
        call.chatAnswer({ content: JSON.stringify({ reason: 'Fine', verdict: preferred }) });
      });
      const body = { runId: first!.runId, otherRunId: second!.runId };
      return (await callJson(host, way, 'POST', `/judges/${judge.body.id}/verdicts`, { body })).body.verdict;
    };
    const exported = async (format: string) => {
      const path = `/comparisons/${id}/export?format=${format}`;
      const { text } = await host.send(way, { method: 'GET', path, headers: { authorization: `Bearer ${host.key}` } });
      return text.trim();
    };
    expect(await judgePair('B')).toBe('second');
    // The judge is not calibrated: no training data.
    expect(await exported('preferences')).toBe('');
    const [head, ...lines] = (await exported('csv')).split('\r\n');
    expect(head!.endsWith(',judge_preferences')).toBe(true);
    expect(lines.map((line) => line.split(',').at(-1))).toEqual([
      "Warmer: worse than B (doesn't count yet)",
      "Warmer: better than A (doesn't count yet)",
    ]);
    const [line] = (await exported('jsonl')).split('\n').map((text) => JSON.parse(text));
    const other = { otherVariant: 'B', otherRepeat: 1, isStale: false, counts: false };
    expect(line.preferences).toEqual([{ judge: 'Warmer', outcome: 'worse', ...other }]);
    // Another verdict takes the place of the first, and one of a judge that has changed doesn't count.
    expect(await judgePair('A')).toBe('first');
    expect(await exported('csv')).toContain('Warmer: better than B');
    await callJson(host, way, 'PUT', `/judges/${judge.body.id}`, {
      body: {
        name: 'Warmer',
        promptText: 'Now: {{first}} or {{second}}?',
        verdict: { kind: 'preference' },
        ...provider,
      },
    });
    expect(await exported('csv')).toContain('Warmer: better than B (stale)');
  });

  test('lose their notes with the texts of the run', async () => {
    const { cells, vote } = await compare(1);
    const [cell] = await cells();
    await vote(cell!, { vote: 'fail', note: 'Quotes the answer' });
    host.host.storage.retention.apply('anonymise', Date.now() + 1000, 1000);
    expect((await cells())[0]!.votes).toMatchObject([{ vote: 'fail', note: null }]);
  });
});

describe('blind votes', () => {
  const start = (id: string, body: object = { variants: ['A', 'B'] }, key = host.key) =>
    callJson(host, way, 'POST', `/comparisons/${id}/blind-votes`, { key, body });
  const act = async (id: string, action: string, key = host.key) =>
    callJson(host, way, 'POST', `/blind-votes/${id}/${action}`, { key });
  const voteOn = (vote: BlindVote, body: object, key = host.key) =>
    callJson(host, way, 'PUT', `/blind-votes/${vote.id}/pairs/${vote.pair!.rowId}`, { key, body });
  /** The side of an answer of a variant. */
  const sideOf = ({ pair }: BlindVote, name: string) =>
    pair!.answers[0]!.text.startsWith(name) ? ('first' as const) : ('second' as const);

  test('show pairs without their variants, and name them at the end', async () => {
    const { id } = await compare(12);
    const started = await start(id, { variants: ['A', 'B'], question: 'Which is shorter?' });
    expect(started.status).toBe(201);
    let vote = started.body as BlindVote;
    expect(vote).toMatchObject({ question: 'Which is shorter?', isOwn: true, finishedAt: null, result: null });
    expect(vote.counts).toMatchObject({ pairs: 12, voted: 0 });
    const sides: string[] = [];
    const rowIds = new Set<string>();
    while (vote.pair !== null && vote.counts.voted < 10) {
      expect(Object.keys(vote.pair).toSorted()).toEqual(['answers', 'position', 'repeat', 'rowId', 'values']);
      for (const answer of vote.pair.answers) {
        expect(Object.keys(answer).toSorted()).toEqual(['passages', 'text', 'toolCalls']);
      }
      sides.push(sideOf(vote, 'B'));
      rowIds.add(vote.pair.rowId);
      const answer = await voteOn(vote, { vote: sideOf(vote, 'B'), note: 'Shorter' });
      expect(answer.status).toBe(200);
      vote = answer.body;
    }
    expect([new Set(sides).size, rowIds.size]).toEqual([2, 10]);
    const left = vote.pair!;
    vote = (await voteOn(vote, { vote: 'bothBad' })).body;
    // Reading it again, as after a reload, changes nothing.
    const again = await callJson(host, way, 'GET', `/blind-votes/${vote.id}`);
    expect(again.body.pair).toEqual(vote.pair);
    expect((await start(id, { variants: ['B', 'A'] })).body).toMatchObject({ id: vote.id, counts: { voted: 11 } });
    vote = (await act(vote.id, 'undo')).body;
    expect(vote).toMatchObject({ pair: { rowId: left.rowId, answers: left.answers }, counts: { voted: 10 } });
    vote = (await act(vote.id, 'undo')).body;
    expect(vote.note).toBe('Shorter');
    await voteOn(vote, { vote: sideOf(vote, 'A') });
    const done = (await act(vote.id, 'finish')).body as BlindVote;
    expect(done).toMatchObject({ pair: null, finishedAt: expect.any(String), counts: { decided: 10 } });
    expect(done.result).toMatchObject({
      variants: [
        { name: 'A', model: 'scripted/model', wins: 1 },
        { name: 'B', wins: 9 },
      ],
      verdict: 'second',
      share: 0.9,
      sentence: 'B is preferred: 9 of 10 decided pairs, 90 % (95 %: 55 to 100)',
      // The judge passes A and fails B.
      agreements: [{ judge: 'Strict', agreement: { rows: 10, share: 0.1 } }],
    });
    expect((await act(vote.id, 'undo')).status).toBe(409);
    expect((await start(id)).body.id).not.toBe(vote.id);
    expect((await walk(host, way, `/comparisons/${id}/blind-votes`, 1)).map((each) => each.id)).toContain(vote.id);
    expect(await disagreeingRows(id)).toHaveLength(9);
    expect((await callJson(host, way, 'DELETE', `/blind-votes/${vote.id}`)).status).toBe(204);
    expect((await callJson(host, way, 'GET', `/blind-votes/${vote.id}`)).status).toBe(404);
  });

  test('say how far several people agree, whose variants are in any order', async () => {
    const { id } = await compare(4);
    const anna = host.issueKey({ name: 'Anna', scopes: ['run', 'audit', 'manage'] });
    const finished = async (variants: string[], preferred: string[], key = host.key, question?: string) => {
      let vote = (await start(id, { variants, ...(question && { question }) }, key)).body as BlindVote;
      const { id: startedId } = vote;
      const choices = new Map(preferred.map((name, row) => [row, name]));
      while (vote.pair) vote = (await voteOn(vote, { vote: sideOf(vote, choices.get(vote.pair.position)!) }, key)).body;
      return (await act(startedId, 'finish', key)).body as BlindVote;
    };
    expect((await finished(['A', 'B'], ['A', 'A', 'B', 'B'])).result!.people).toBeNull();
    const { id: voteId, result } = await finished(['B', 'A'], ['A', 'A', 'B', 'A'], anna);
    // Three of four equal pairs; of the eight labels five are A, so that 13 of 28 pairs are equal by chance.
    expect(result!.people).toMatchObject({
      voters: 2,
      pairs: 4,
      share: 0.75,
      sentence: expect.stringMatching(
        /^2 people voted on the same 4 pairs: alpha 0\.53 \(95 %: -?0\.\d\d to 0\.\d\d\)$/,
      ),
    });
    expect(result!.people!.alpha).toBeCloseTo(1 - 0.25 / (1 - 13 / 28), 12);
    // A vote on another question is about something else.
    const other = await finished(['A', 'B'], ['B', 'B', 'A', 'A'], anna, 'Which is shorter?');
    expect(other.result!.people).toBeNull();
    const again = (await callJson(host, way, 'GET', `/blind-votes/${voteId}`)).body as BlindVote;
    expect(again.result!.people).toEqual(result!.people);
  });

  test('count for the answers that were shown, also if an earlier repeat ends before the vote', async () => {
    let calls = 0;
    host.provider.answerWith((call) => {
      calls += 1;
      if (calls === 1) call.fail(400, 'No');
      else call.chatStream([`answer ${calls}`]);
    });
    const { id } = await compare(1, { repeats: 2, concurrency: 1, checks: [] });
    let vote = (await start(id)).body as BlindVote;
    const pair = vote.pair!;
    expect(pair.repeat).toBe(2);
    const shown = pair.answers.map(({ text }) => text);
    const path = `/comparisons/${id}`;
    expect((await callJson(host, way, 'POST', `${path}/retry`, { body: {} })).status).toBe(202);
    await expect.poll(async () => (await callJson(host, way, 'GET', path)).body.cells.completed).toBe(4);
    await voteOn(vote, { vote: 'tie', repeat: 2 });
    vote = (await act(vote.id, 'undo')).body;
    expect(vote.pair).toEqual(pair);
    expect((await voteOn(vote, { vote: 'first', repeat: 3 })).status).toBe(404);
    await voteOn(vote, { vote: 'first', repeat: 2 });
    await act(vote.id, 'finish');
    const answer = await host.send(way, {
      method: 'GET',
      path: `${path}/export?format=preferences`,
      headers: { authorization: `Bearer ${host.key}` },
    });
    const { chosen, rejected, repeat } = JSON.parse(answer.text);
    expect([chosen[0].content, rejected[0].content, repeat]).toEqual([...shown, 2]);
  });

  test('leave out equal answers, and belong to their voter', async () => {
    host.provider.answerWith((call) => {
      if (!promptOf(call).includes('ticket 0')) return reply(call);
      if (call.body['stream'] === true) call.chatStream(['The same']);
      else call.chatAnswer({ content: 'The same' });
    });
    const { id } = await compare(2, { checks: [] });
    let vote = (await start(id)).body as BlindVote;
    const other = host.issueKey({ scopes: ['run', 'manage'] });
    expect(rejectionOf(await start(id, undefined, other))).toEqual([403, 'forbidden', []]);
    for (const response of [
      await voteOn(vote, { vote: 'tie' }, other),
      await act(vote.id, 'finish', other),
      await act(vote.id, 'undo', other),
    ]) {
      expect(response.status).toBe(403);
    }
    const seen = await callJson(host, way, 'GET', `/blind-votes/${vote.id}`, { key: other });
    expect(seen.body).toMatchObject({ pair: null, voter: null, isOwn: false });
    vote = (await voteOn(vote, { vote: 'skip' })).body;
    expect(vote).toMatchObject({ pair: null, counts: { pairs: 2, voted: 2, skipped: 1, identical: 1 } });
    const changed = await callJson(host, way, 'PUT', `/blind-votes/${vote.id}`, { body: { question: 'Kinder?' } });
    expect(changed.body.question).toBe('Kinder?');
    const done = (await act(vote.id, 'finish')).body as BlindVote;
    expect(done.result).toMatchObject({ verdict: 'unclear', sentence: 'Cannot tell: no pair was decided, 1 tie' });
    await callJson(host, way, 'DELETE', `/comparisons/${id}`);
    expect((await callJson(host, way, 'GET', `/blind-votes/${vote.id}`)).status).toBe(404);
  });

  test('reject what they can not use', async () => {
    const { id } = await compare(1);
    for (const [body, field] of [
      [{ variants: ['A'] }, 'variants'],
      [{ variants: ['A', 'C'] }, 'variants[1]'],
      [{ variants: ['A', 'A'] }, 'variants[1]'],
      [{ variants: ['A', 'B'], question: ' ' }, 'question'],
      [{ variants: ['A', 'B'], seed: 1 }, 'seed'],
    ] as const) {
      expect(rejectionOf(await start(id, body))).toMatchObject([400, 'invalid_request', [{ field }]]);
    }
    const { body: vote } = await start(id);
    expect(rejectionOf(await voteOn(vote, { vote: 'left' }))).toMatchObject([
      400,
      'invalid_request',
      [{ field: 'vote' }],
    ]);
    expect((await voteOn({ ...vote, pair: { ...vote.pair, rowId: 'unknown' } }, { vote: 'tie' })).status).toBe(404);
    expect((await act('00000000-0000-4000-8000-000000000000', 'finish')).status).toBe(404);
  });
});

describe('judging again', () => {
  test('gives cells the verdicts that they lack, after a rate limit, and runs no cell', async () => {
    let isDown = true;
    host.provider.answerWith((call) =>
      isDown && promptOf(call).startsWith('Judge') ? call.fail(500, 'down') : reply(call),
    );
    const { id, judgeId, cells } = await compare(2);
    expect((await cells()).map(({ checks }) => checks[0]!.pass)).toEqual([null, null, null, null]);
    const again = () => callJson(host, way, 'POST', `/comparisons/${id}/judge`);
    const ended = () =>
      expect.poll(async () => (await callJson(host, way, 'GET', `/comparisons/${id}`)).body.state).toBe('Completed');
    isDown = false;
    let limits = 1;
    host.provider.answerWith((call) => {
      if (limits-- > 0) return call.fail(429, 'slow down', { 'retry-after': '1' });
      reply(call);
    });
    const missing = async () => (await callJson(host, way, 'GET', `/comparisons/${id}/judge`)).body;
    const none = { missing: 0, stale: 0, uncounted: 0 };
    expect(await missing()).toEqual({
      cells: 4,
      cost: null,
      judges: [{ judgeId, name: 'Strict', ...none, missing: 4, cost: null }],
    });
    const before = host.provider.calls.length;
    const started = await again();
    expect([started.status, started.body.state]).toEqual([202, 'Running']);
    expect(started.body.judging).toEqual({ judged: 0, total: 4 });
    expect((await again()).status).toBe(409);
    await ended();
    expect((await cells()).map(({ checks }) => checks[0]!.pass)).toEqual([true, false, true, false]);
    expect(host.provider.calls.length - before).toBe(5);
    // Nothing is left to judge.
    expect(await missing()).toMatchObject({ cells: 0, cost: { low: 0, high: 0 }, judges: [none] });
    await again();
    await ended();
    expect(host.provider.calls.length - before).toBe(5);
    await callJson(host, way, 'PUT', `/judges/${judgeId}`, {
      body: { name: 'Strict', promptText: 'Judge: {{answer}}', verdict: { kind: 'passOrFail' }, ...provider },
    });
    expect(await missing()).toMatchObject({ cells: 4, judges: [{ ...none, stale: 4 }] });
    await again();
    await ended();
    expect(host.provider.calls.length - before).toBe(9);
    expect((await cells()).every(({ verdicts }) => !verdicts[0]!.isStale)).toBe(true);
    const report = await callJson(host, way, 'GET', `/comparisons/${id}/report`);
    expect(report.body.variants.map((each: { checks: unknown }) => each.checks)).toEqual([
      [{ passes: 2, judged: 2 }],
      [{ passes: 0, judged: 2 }],
    ]);
    expect((await callJson(host, way, 'GET', `/comparisons/${unknown}/judge`)).status).toBe(404);
  });

  test('asks again after a response outside the schema, and stops when a person does', async () => {
    const judges = (call: ScriptedCall) => promptOf(call).startsWith('Judge');
    host.provider.answerWith((call) => (judges(call) ? call.chatAnswer({ content: '{}' }) : reply(call)));
    const { id, cells } = await compare(2);
    expect((await cells())[0]!.checks[0]).toMatchObject({ pass: null });
    const read = async () => (await callJson(host, way, 'GET', `/comparisons/${id}`)).body;
    const requested: ScriptedCall[] = [];
    host.provider.answerWith((call) => void requested.push(call));
    await callJson(host, way, 'POST', `/comparisons/${id}/judge`);
    await expect.poll(() => requested.length).toBe(4);
    reply(requested[0]!);
    await expect.poll(async () => (await read()).judging).toEqual({ judged: 1, total: 4 });
    const stopped = await callJson(host, way, 'POST', `/comparisons/${id}/stop`);
    expect(stopped.body).toMatchObject({ state: 'Completed', judging: null, stopReason: 'Stopped.' });
    const missing = await callJson(host, way, 'GET', `/comparisons/${id}/judge`);
    expect(missing.body).toMatchObject({ cells: 3, judges: [{ missing: 3 }] });
    expect((await cells()).filter(({ checks }) => checks[0]!.pass !== null)).toHaveLength(1);
  });

  test('judges the first cell alone under a spend cap, because it shows what one costs', async () => {
    const judges = (call: ScriptedCall) => promptOf(call).startsWith('Judge');
    host.provider.answerWith((call) => (judges(call) ? call.chatAnswer({ content: '{}' }) : reply(call)));
    const { id } = await compare(2, { maxCost: 5 });
    const read = async () => (await callJson(host, way, 'GET', `/comparisons/${id}`)).body;
    const requested: ScriptedCall[] = [];
    host.provider.answerWith((call) => void requested.push(call));
    await callJson(host, way, 'POST', `/comparisons/${id}/judge`);
    await expect.poll(() => requested.length).toBeGreaterThan(0);
    // Without a cap, all four are requested in the time of one of these.
    for (let index = 0; index < 10; index += 1) await read();
    expect(requested).toHaveLength(1);
    reply(requested[0]!);
    await expect.poll(() => requested.length).toBe(4);
    for (const call of requested.slice(1)) reply(call);
    await expect.poll(async () => (await read()).judging).toBe(null);
  });
});

describe('a judge of preferences', () => {
  const createPairJudge = async (promptText = 'Judge {{first}} | {{second}} for {{ticket}}') => {
    const body = { name: 'Taste', promptText, verdict: { kind: 'preference' }, ...provider };
    return callJson(host, way, 'POST', '/judges', { key: host.key, body });
  };
  const prefer = (choose: (prompt: string) => string | null) =>
    host.provider.answerWith((call) => {
      const verdict = choose(promptOf(call));
      const content = verdict === null ? 'no verdict' : JSON.stringify({ reason: 'Because', verdict });
      if (call.body['stream'] === true) call.chatStream([content]);
      else call.chatAnswer({ content });
    });
  const pairsOf = async (id: string, judgeId: string, query = 'first=A&second=B') =>
    callJson(host, way, 'GET', `/comparisons/${id}/pairs?judgeId=${judgeId}&${query}`, { key: host.key });

  async function judgePairs(id: string, judgeId: string, variants = ['A', 'B']) {
    const body = { judgeId, variants };
    const started = await callJson(host, way, 'POST', `/comparisons/${id}/pairs`, { key: host.key, body });
    const state = async () => (await callJson(host, way, 'GET', `/comparisons/${id}`, { key: host.key })).body.state;
    await expect.poll(state).toBe('Completed');
    return started;
  }

  test('compares two variants in all rows, in both orders, and pays for no pair twice', async () => {
    const { id } = await compare(4, { checks: [] });
    const { body: judge } = await createPairJudge();
    expect((await pairsOf(id, judge.id)).body).toMatchObject({ counts: { pairs: 4, judged: 0, missing: 4 } });
    // Prefers B, except in a row where the order decides and one where it gives no verdict.
    const prompts: string[] = [];
    prefer((prompt) => {
      prompts.push(prompt);
      if (prompt.includes('ticket 2')) return null;
      if (prompt.includes('ticket 3')) return 'first';
      return prompt.startsWith('Judge A') ? 'second' : 'first';
    });
    expect((await judgePairs(id, judge.id)).status).toBe(202);
    expect(prompts).toHaveLength(8);
    expect((await pairsOf(id, judge.id)).body).toMatchObject({
      judge: 'Taste',
      variants: [
        { name: 'A', wins: 0 },
        { name: 'B', wins: 2 },
      ],
      counts: { pairs: 4, judged: 3, ties: 1, identical: 0, missing: 1, stale: 0 },
      verdict: 'unclear',
      isCalibrated: false,
      sentence: expect.stringMatching(/^Doesn't count yet/),
    });
    prompts.length = 0;
    prefer((prompt) => (prompts.push(prompt), prompt.startsWith('Judge A') ? 'second' : 'first'));
    await judgePairs(id, judge.id);
    expect(prompts).toHaveLength(2);
    expect((await pairsOf(id, judge.id)).body.counts).toMatchObject({ judged: 4, missing: 0 });
    const change = { name: 'Taste', promptText: 'Judge {{first}} or {{second}}', verdict: { kind: 'preference' } };
    await callJson(host, way, 'PUT', `/judges/${judge.id}`, { key: host.key, body: { ...change, ...provider } });
    expect((await pairsOf(id, judge.id)).body.counts).toMatchObject({ judged: 0, stale: 4 });
  });

  test.each([
    ['fails', 500],
    ['ends the judging', 401],
  ])('counts the cost of the first order when the second one %s', async (_, status) => {
    const { settings } = host.host.storage;
    settings.update({ endpointPrices: [{ model: provider.model, inputPrice: 1, outputPrice: 2 }] });
    onTestFinished(() => void settings.update({ endpointPrices: [] }));
    const { id } = await compare(1, { checks: [] });
    const { body: judge } = await createPairJudge();
    const costs = async () => (await callJson(host, way, 'GET', `/comparisons/${id}`, { key: host.key })).body.cost;
    expect((await costs()).spentByJudges).toBe(0);
    host.provider.answerWith((call) => {
      if (!promptOf(call).startsWith('Judge A')) return call.fail(status, 'no');
      const content = JSON.stringify({ reason: 'Because', verdict: 'first' });
      return call.body['stream'] === true ? call.chatStream([content]) : call.chatAnswer({ content });
    });
    await judgePairs(id, judge.id);
    expect((await pairsOf(id, judge.id)).body.counts).toMatchObject({ judged: 0, missing: 1 });
    expect((await costs()).spentByJudges).toBeGreaterThan(0);
  });

  test('rejects other judges, unknown variants and the same one twice', async () => {
    const { id, judgeId } = await compare(1);
    const { body: judge } = await createPairJudge();
    const { datasetId } = (await callJson(host, way, 'GET', `/comparisons/${id}`, { key: host.key })).body;
    const variants = [{ name: 'A', prompt: { promptText: '{{ticket}}' }, ...provider }];
    const asCheck = { name: 'X', datasetId, variants, checks: [{ kind: 'judge', judgeId: judge.id }] };
    const checked = await callJson(host, way, 'POST', '/comparisons', { key: host.key, body: asCheck });
    expect(rejectionOf(checked)).toMatchObject([400, 'invalid_request', [{ field: 'checks[0].judgeId' }]]);
    const post = (body: object) => callJson(host, way, 'POST', `/comparisons/${id}/pairs`, { key: host.key, body });
    const found = await Promise.all([
      post({ judgeId, variants: ['A', 'B'] }),
      post({ judgeId: unknown, variants: ['A', 'B'] }),
      post({ judgeId: judge.id, variants: ['A', 'C'] }),
      post({ judgeId: judge.id, variants: ['A', 'A'] }),
      pairsOf(id, judge.id, 'first=A&second=C'),
    ]);
    expect(found.map((answer) => rejectionOf(answer))).toMatchObject([
      [400, 'invalid_request', [{ field: 'judgeId' }]],
      [400, 'invalid_request', [{ field: 'judgeId' }]],
      [400, 'invalid_request', [{ field: 'variants' }]],
      [400, 'invalid_request', [{ field: 'variants' }]],
      [400, 'invalid_request', [{ field: 'variants' }]],
    ]);
  });
});
