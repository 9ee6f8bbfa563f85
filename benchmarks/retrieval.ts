/**
 * Quality and speed of retrieval. Quality on our own corpus (settings were chosen on its development half; the other half is
 * reported too), or on a folder of the BEIR layout with `--beir DIR`; then times and memory with 100,000 passages (`--passages N`,
 * 0 leaves them out). `--learn` fits the coefficients of the relevance on the development half.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createKnowledgeIndex } from '../electron/knowledge/index/create-knowledge-index.ts';
import { onDeviceEmbedder } from '../electron/knowledge/text-embedder.ts';
import { createEmbeddings } from '../electron/on-device/embeddings.ts';
import { readBeir } from './retrieval/beir.ts';
import { ownCorpus, type RetrievalSet } from './retrieval/corpus.ts';
import { learnRelevance, offTopicRows, relevanceRows } from './retrieval/learn-relevance.ts';
import { askAll, bestRelevance, indexSet, qualityRows, type Answered } from './retrieval/quality.ts';
import { speedRows } from './retrieval/speed.ts';
import { printReport, row, type Row } from './support/report.ts';

const { values } = parseArgs({
  options: {
    beir: { type: 'string' },
    passages: { type: 'string', default: '100000' },
    learn: { type: 'boolean', default: false },
  },
});
const directory = mkdtempSync(join(tmpdir(), 'touchstone-retrieval-'));
const embeddings = createEmbeddings();
const embedder = onDeviceEmbedder(embeddings);

async function answersTo(set: RetrievalSet, of: string): Promise<{ answered: Answered[]; offTopic: Row[] }> {
  const index = createKnowledgeIndex({ directory: mkdtempSync(join(directory, 'quality-')) });
  await indexSet(set, index, embedder);
  const answered = await askAll(set, index, embedder);
  const offTopic = await offTopicRows((query) => bestRelevance(query, index, embedder), of);
  await index.close();
  return { answered, offTopic };
}

async function beirRows(folder: string): Promise<Row[]> {
  const set = await readBeir(folder);
  const sizes = [row('passages', set.passages.length, ''), row('questions', set.questions.length, '')];
  return [...sizes, ...qualityRows((await answersTo(set, 'BEIR')).answered, 'BEIR')];
}

async function ownRows(): Promise<Row[]> {
  const { set, documents, development } = ownCorpus();
  const [{ answered: ofPassages, ...passages }, { answered: ofDocuments, ...inDocuments }] = [
    await answersTo(set, 'passages'),
    await answersTo(documents, 'in documents'),
  ];
  const isChosenBy = ({ question }: Answered) => development.has(question.id);
  const held = ofPassages.filter((answered) => !isChosenBy(answered));
  const heldInDocuments = ofDocuments.filter((answered) => !isChosenBy(answered));
  if (values.learn) console.log(learnRelevance([...ofPassages, ...ofDocuments].filter(isChosenBy)));
  const kinds = [...new Set(held.map(({ question }) => question.kind))];
  const ofKind = (answered: readonly Answered[], kind: string) =>
    answered.filter(({ question }) => question.kind === kind);
  return [
    row('passages', set.passages.length, '', { min: 300 }),
    row('questions', set.questions.length, '', { min: 200 }),
    ...qualityRows(held, 'held-out half', { isAimed: true }),
    ...kinds.flatMap((kind) => qualityRows(ofKind(held, kind), kind)),
    ...qualityRows(ofPassages.filter(isChosenBy), 'development half'),
    ...qualityRows(heldInDocuments, 'held-out half in documents', { isAimed: true }),
    ...kinds.flatMap((kind) => qualityRows(ofKind(heldInDocuments, kind), `${kind}, in documents`)),
    ...relevanceRows(held, 'passages'),
    ...relevanceRows(heldInDocuments, 'in documents'),
    ...passages.offTopic,
    ...inDocuments.offTopic,
  ];
}

try {
  const quality = values.beir === undefined ? await ownRows() : await beirRows(resolve(values.beir));
  const count = Number(values.passages);
  const speed = count > 0 ? await speedRows(join(directory, 'speed'), count, embedder) : [];
  printReport('retrieval', [...quality, ...speed]);
} finally {
  await embeddings.close();
  rmSync(directory, { recursive: true, force: true });
}
