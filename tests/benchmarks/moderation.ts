/**
 * How good and how fast the on-device classifier is. Without a path: cross-validation on the given half, the benign set, time and
 * memory. With the path of a labelled JSONL: what the shipped weights make of it, without training on it.
 */
import { resolve } from 'node:path';
import { categories, defaultModerationSettings, type Category } from '../../shared/contract/moderation.ts';
import { forEachCategory } from '../../electron/moderation/classifier.ts';
import { createModeration } from '../../electron/moderation/create-moderation.ts';
import { moderationWeights } from '../../electron/moderation/weights.ts';
import { createEmbeddings } from '../../electron/on-device/embeddings.ts';
import { dataFiles, readLabelledTexts, type LabelledText } from '../../scripts/moderation/corpus.ts';
import { crossValidate, withLabels } from '../../scripts/moderation/cross-validation.ts';
import { areaUnderRoc, atThreshold, averagePrecision, type Scored } from '../../scripts/moderation/metrics.ts';
import { isFlagged, shippedScores } from '../../scripts/moderation/shipped-scores.ts';
import { createFeatureSpace, isBenign } from '../../scripts/moderation/training.ts';
import { median, percentile, printReport, row, type Row } from './support/report.ts';

/** Lowest area under the precision-recall curve that we want on texts that were never seen. */
const auprcAims: Record<Category, number> = {
  sexual: 0.93,
  hatred: 0.68,
  harassment: 0.42,
  selfHarm: 0.72,
  violence: 0.45,
};
const anyAim = 0.8;

interface Scores {
  readonly scores: readonly number[];
  readonly threshold: number;
}

/** A text is positive if one known label is, negative if all five are known to be. */
function anyScored(texts: readonly LabelledText[], found: Record<Category, Scores>): Scored[] {
  return texts.flatMap(({ labels }, index) => {
    const isPositive = categories.some((category) => labels[category] === true);
    if (!isPositive && !isBenign(texts[index]!)) return [];
    return [{ score: Math.max(...categories.map((category) => found[category].scores[index]!)), isPositive }];
  });
}

function qualityRows(texts: readonly LabelledText[], found: Record<Category, Scores>, how: string): Row[] {
  const ofCategory = categories.flatMap((category) => {
    const { scores, threshold } = found[category];
    const scored = withLabels(texts, scores, category);
    if (!scored.some(({ isPositive }) => isPositive)) return [];
    const { precision, recall, f1 } = atThreshold(scored, threshold);
    return [
      row(`${category}: AUPRC, ${how}`, averagePrecision(scored), '', { atLeast: auprcAims[category] }),
      row(`${category}: AUROC, ${how}`, areaUnderRoc(scored), ''),
      row(`${category}: F1 at the default threshold, ${how}`, f1, ''),
      row(`${category}: precision at the default threshold, ${how}`, precision, ''),
      row(`${category}: recall at the default threshold, ${how}`, recall, ''),
    ];
  });
  const any = anyScored(texts, found);
  if (!any.some(({ isPositive }) => isPositive)) return ofCategory;
  return [...ofCategory, row(`any category: AUPRC, ${how}`, averagePrecision(any), '', { atLeast: anyAim })];
}

async function crossValidated(): Promise<Row[]> {
  const given = readLabelledTexts(dataFiles.given);
  const own = readLabelledTexts(dataFiles.own);
  const space = await createFeatureSpace([...given, ...own]);
  return qualityRows(given, crossValidate(given, own, space), 'cross-validated');
}

async function shipped(path: string): Promise<Row[]> {
  const texts = readLabelledTexts(path);
  const { heads } = moderationWeights();
  const scores = await shippedScores(texts);
  const found = forEachCategory((category) => ({ scores: scores[category], threshold: heads[category].threshold }));
  const learned = new Set([dataFiles.given, dataFiles.own].flatMap(readLabelledTexts).map(({ text }) => text));
  return [
    row('texts', texts.length, ''),
    // Figures on texts that were learned from say nothing about others.
    row('of them learned from', texts.filter(({ text }) => learned.has(text)).length, '', { atMost: 0 }),
    ...qualityRows(texts, found, 'shipped weights'),
  ];
}

async function benign(): Promise<Row[]> {
  const texts = readLabelledTexts(dataFiles.benign);
  const scores = await shippedScores(texts);
  const flagged = texts.filter((_, index) => isFlagged(scores, index));
  for (const { text } of flagged) console.log(`flagged although benign: ${text}`);
  return [
    row('benign texts that training never saw', texts.length, 'texts', { atLeast: 500 }),
    row('of them flagged', (100 * flagged.length) / texts.length, '%', { atMost: 2 }),
  ];
}

const sentences = readLabelledTexts(dataFiles.benign).map(({ text }) => text);

/** A text of everyday sentences, another one for every number. */
function everydayText(characters: number, number: number): string {
  let text = '';
  for (let index = number * 11; text.length < characters; index += 1) text += `${sentences[index % sentences.length]} `;
  return text.slice(0, characters);
}

async function speed(): Promise<Row[]> {
  const embeddings = createEmbeddings();
  const moderation = createModeration({
    settings: () => defaultModerationSettings,
    // The on-device classifier asks no provider.
    providers: { provider: never, endpointProvider: never, resolve: never, applicableConfiguration: never },
    embeddings,
  });
  const { signal } = new AbortController();
  const timed = async (text: string) => {
    const begun = performance.now();
    await moderation.classify(text, { signal });
    return performance.now() - begun;
  };
  const samples = 60;
  const loading = await timed('Hello');
  const times: number[] = [];
  const processor = process.cpuUsage();
  for (let index = 0; index < samples; index += 1) times.push(await timed(everydayText(500, index)));
  const { user, system } = process.cpuUsage(processor);
  const before = process.memoryUsage().rss;
  const megabyte = await timed(everydayText(1_048_576, 1));
  const peak = process.resourceUsage().maxRSS * 1024;
  await moderation.close();
  await embeddings.close();
  return [
    row('first text, engine started', loading, 'ms'),
    row('500 characters, p50', median(times), 'ms', { atMost: 30 }),
    row('500 characters, p95', percentile(times, 0.95), 'ms'),
    row('500 characters, processor time', (user + system) / 1000 / samples, 'ms'),
    row('1 MB', megabyte, 'ms'),
    row('memory before 1 MB', before / 1_048_576, 'MB'),
    row('memory at most', peak / 1_048_576, 'MB'),
  ];
}

function never(): never {
  throw new Error('No provider is asked');
}

const [path] = process.argv.slice(2);
const rows = path === undefined ? [...(await crossValidated()), ...(await benign())] : await shipped(resolve(path));
printReport('moderation', path === undefined ? [...rows, ...(await speed())] : rows);
