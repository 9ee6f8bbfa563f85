import type { SampleTopic } from './sample-topic.ts';

const reviewer =
  'You review code. Name the defect first, then the smallest change that mends it. No praise, no style remarks.';

export const engineeringTopics: readonly SampleTopic[] = [
  {
    name: 'Review of [module]/retry.ts',
    team: 'engineering',
    language: 'en',
    systemMessage: reviewer,
    promptText: 'Review this change to `{{file}}`:\n\n```ts\n{{code}}\n```',
    replacements: {
      file: 'src/[module]/retry.ts',
      code: 'export async function retry<T>(work: () => Promise<T>, times = 3): Promise<T> {\n  for (let i = 0; i < times; i++) {\n    try {\n      return work();\n    } catch (error) {\n      await sleep(100 * i);\n    }\n  }\n  throw new Error("gave up");\n}',
    },
    answer:
      '**Defect:** `return work()` hands the promise back before it settles, so a rejection never reaches the `catch` and nothing is retried.\n\n```ts\nreturn await work();\n```\n\nThe last error is also lost. Keep it and throw it with `cause`:\n\n```ts\nthrow new Error(`gave up after ${times} attempts`, { cause: lastError });\n```',
    next: [
      {
        instruction: 'Write the test that shows the defect.',
        answer:
          "```ts\ntest('a rejected attempt is followed by another one', async () => {\n  let calls = 0;\n  const work = async () => {\n    calls += 1;\n    if (calls < 3) throw new Error('not yet');\n    return 'done';\n  };\n  expect(await retry(work)).toBe('done');\n  expect(calls).toBe(3);\n});\n```\n\nWith the change as it stands this fails with `not yet` at the first call.",
      },
      {
        instruction: 'Should the delay grow exponentially here?',
        answer:
          'For a call to another service: yes, with jitter, otherwise all clients come back at the same moment. `100 * i` starts with no wait at all, so the second attempt hits the same overload. `Math.random() * 100 * 2 ** attempt` with a cap of a few seconds is enough.',
      },
    ],
  },
  {
    name: 'Slow query on [module]_events',
    team: 'engineering',
    language: 'en',
    systemMessage: null,
    promptText: 'Explain this query plan and say what to change.\n\n{{plan}}',
    replacements: {
      plan: "Seq Scan on [module]_events  (cost=0.00..48213.00 rows=1204 width=312) (actual time=0.031..812.440 rows=1187 loops=1)\n  Filter: ((tenant_id = 42) AND (created_at > now() - interval '7 days'))\n  Rows Removed by Filter: 1998813",
    },
    answer:
      'The table is read from end to end: two million rows are looked at to return 1,187. The filter has an equality on `tenant_id` and a range on `created_at`, so an index in that order serves both:\n\n```sql\nCREATE INDEX CONCURRENTLY [module]_events_by_tenant ON [module]_events (tenant_id, created_at);\n```\n\nThe other order would also work but would read every tenant of the last week. Expect the time to fall from 812 ms to a few milliseconds.',
    next: [
      {
        instruction: 'What does the index cost on insert?',
        answer:
          'One more B-tree entry per row. `created_at` grows, so within each tenant the inserts go to the right edge and pages stay warm: expect about 5 to 10 % on the insert and some 40 bytes a row on disk. Measure it with your real number of tenants; with very many of them the right edges no longer fit in memory.',
      },
    ],
  },
  {
    name: 'Weeks of dates in Python',
    team: 'engineering',
    language: 'en',
    systemMessage: null,
    promptText: 'Write a {{language}} function that {{task}}. Only the code, with one short docstring.',
    replacements: { language: 'Python', task: 'groups dates into ISO weeks and counts them' },
    answer:
      '```python\nfrom collections import Counter\nfrom collections.abc import Iterable\nfrom datetime import date\n\n\ndef count_by_week(days: Iterable[date]) -> Counter[tuple[int, int]]:\n    """Counts days by (ISO year, ISO week)."""\n    return Counter(day.isocalendar()[:2] for day in days)\n```',
    next: [
      {
        instruction: 'Return a list sorted by week, with empty weeks in between as 0.',
        answer:
          '```python\nfrom collections import Counter\nfrom collections.abc import Iterable\nfrom datetime import date, timedelta\n\n\ndef count_by_week(days: Iterable[date]) -> list[tuple[date, int]]:\n    """Counts days by the Monday of their week; weeks without days are there with 0."""\n    counts = Counter(day - timedelta(days=day.weekday()) for day in days)\n    if not counts:\n        return []\n    monday, last = min(counts), max(counts)\n    weeks = (last - monday).days // 7 + 1\n    return [(week, counts[week]) for week in (monday + timedelta(weeks=n) for n in range(weeks))]\n```',
      },
    ],
  },
  {
    name: 'Verbindungsabbrüche am [module]-gateway',
    team: 'engineering',
    language: 'de',
    systemMessage: 'Du hilfst beim Betrieb. Nenne zuerst die wahrscheinlichste Ursache, dann wie man sie prüft.',
    promptText: 'Was bedeutet diese Meldung im Dienst {{service}}?\n\n{{log}}',
    replacements: {
      service: '[module]-gateway',
      log: 'upstream connect error or disconnect/reset before headers. reset reason: connection termination, retried 2 times, request from [ip], user [email]',
    },
    answer:
      'Am wahrscheinlichsten schließt die Anwendung eine ruhende Verbindung, während das Gateway gerade eine Anfrage darauf legt: Die Leerlaufzeit der Anwendung ist kürzer als die des Gateways.\n\nPrüfen: Tritt der Fehler vor allem nach ruhigen Minuten auf und nie bei der ersten Anfrage einer neuen Verbindung? Dann ist es das.\n\nBeheben: die Leerlaufzeit der Anwendung über die des Gateways setzen (zum Beispiel 75 s gegenüber 60 s). Nebenbei steht in der Meldung eine E-Mail-Adresse; die gehört nicht ins Protokoll.',
    next: [
      {
        instruction: 'Als Eintrag für das Runbook, höchstens fünf Zeilen.',
        answer:
          '**connection termination vor den Kopfzeilen**\n1. Häufung nach ruhigen Minuten? Ja: Leerlaufzeiten vergleichen.\n2. Anwendung ≤ Gateway? Anwendung auf 75 s setzen, neu ausrollen.\n3. Nein: Speicher und Neustarts der Pods ansehen.\n4. Meldungen mit E-Mail-Adressen an den Datenschutz geben.',
      },
    ],
  },
  {
    name: 'Release notes, [module]',
    team: 'engineering',
    language: 'en',
    systemMessage: null,
    promptText: 'Turn these commits into release notes for users. Leave out what they cannot notice.\n\n{{commits}}',
    replacements: {
      commits:
        'fix: search in [module] ignored accents\nchore: bump eslint\nfeat: export as CSV with a header line\nrefactor: split [module] store\nfix: window kept its size only on the first screen',
    },
    answer:
      '## New\n- Results can be saved as CSV, with a header line.\n\n## Better\n- Search finds words whether or not you type their accents.\n- The window remembers its size on every screen.',
    next: [
      {
        instruction: 'One sentence for the store listing.',
        answer: 'Save results as CSV, search without minding accents, and find your window as you left it.',
      },
    ],
  },
];
