/**
 * Quality and speed of the on-device classifier, with precision and recall of each preset. Without a path: cross-validation on the
 * given half, the benign set, time and memory. With the path of a labelled JSONL: the shipped weights on it, without training on it.
 */
import { resolve } from 'node:path';
import { categories, moderationPresets, type Category, type ModerationPreset } from '../shared/contract/moderation.ts';
import { forEachCategory } from '../electron/moderation/provider-classifiers.ts';
import { moderationWeights } from '../electron/moderation/linear-model.ts';
import { dataFiles, readLabelledTexts, type LabelledText } from '../scripts/moderation/corpus.ts';
import { crossValidate, withLabels } from '../scripts/moderation/cross-validation.ts';
import { areaUnderRoc, atThreshold, averagePrecision, mean, type Scored } from '../scripts/moderation/metrics.ts';
import { createFeatureSpace } from '../scripts/moderation/feature-space.ts';
import { isFlagged, shippedScores } from '../scripts/moderation/shipped-scores.ts';
import { isBenign } from '../scripts/moderation/training.ts';
import { moderationSpeed } from './support/moderation-speed.ts';
import { surroundedTexts } from './support/surrounded-texts.ts';
import { printReport, row, type Row } from './support/report.ts';

/** Min area under the precision-recall curve on unseen texts. */
const auprcAims: Record<Category, number> = {
  sexual: 0.93,
  hatred: 0.68,
  harassment: 0.42,
  selfHarm: 0.72,
  violence: 0.45,
};
const anyAim = 0.8;

/** Max share of harmless texts that a preset may flag, in percent. */
const falseAlarmAims: Readonly<Record<ModerationPreset, number | undefined>> = {
  strict: undefined,
  balanced: 5,
  lenient: 2,
};

interface Scores {
  /** One per draw of the folds, or one without folds. */
  readonly scores: readonly (readonly number[])[];
  readonly thresholds: Readonly<Record<ModerationPreset, number>>;
}

/** A text is positive if one known label is, negative if all five are known to be. */
function anyScored(texts: readonly LabelledText[], found: Record<Category, Scores>, draw: number): Scored[] {
  return texts.flatMap(({ labels }, index) => {
    const isPositive = categories.some((category) => labels[category] === true);
    if (!isPositive && !isBenign(texts[index]!)) return [];
    return [{ score: Math.max(...categories.map((category) => found[category].scores[draw]![index]!)), isPositive }];
  });
}

function qualityRows(texts: readonly LabelledText[], found: Record<Category, Scores>, how: string): Row[] {
  const ofCategory = categories.flatMap((category) => {
    const { scores, thresholds } = found[category];
    const draws = scores.map((draw) => withLabels(texts, draw, category));
    if (!draws[0]?.some(({ isPositive }) => isPositive)) return [];
    return [
      row(`${category}: AUPRC, ${how}`, mean(draws.map(averagePrecision)), '', { min: auprcAims[category] }),
      row(`${category}: AUROC, ${how}`, mean(draws.map(areaUnderRoc)), ''),
      ...moderationPresets.flatMap((preset) => {
        const { precision, recall, f1 } = atThreshold(draws.flat(), thresholds[preset]);
        return [
          row(`${category}: precision, ${preset}, ${how}`, precision, ''),
          row(`${category}: recall, ${preset}, ${how}`, recall, ''),
          row(`${category}: F1, ${preset}, ${how}`, f1, ''),
        ];
      }),
    ];
  });
  const any = found.sexual.scores.map((_, draw) => anyScored(texts, found, draw));
  if (!any[0]?.some(({ isPositive }) => isPositive)) return ofCategory;
  return [...ofCategory, row(`any category: AUPRC, ${how}`, mean(any.map(averagePrecision)), '', { min: anyAim })];
}

async function crossValidated(): Promise<Row[]> {
  const given = readLabelledTexts(dataFiles.given);
  const own = readLabelledTexts(dataFiles.own);
  const probes = surroundedTexts(own);
  const space = await createFeatureSpace(
    [...given, ...own],
    probes.map(({ text }) => text),
  );
  const found = crossValidate({ given, own, probes }, space);
  const reachesThreshold = (scoreOf: (category: Category) => number) =>
    categories.some((category) => scoreOf(category) >= found[category].thresholds.balanced);
  const alone = probes.filter(({ source }) =>
    reachesThreshold((category) => found[category].ownScores[source]!),
  ).length;
  const amongOthers = probes.filter((_, index) =>
    reachesThreshold((category) => found[category].probeScores[index]!),
  ).length;
  return [
    ...qualityRows(given, found, 'cross-validated'),
    row('harmful sentences of our own flagged by Balanced, alone', (100 * alone) / probes.length, '%'),
    row('the same among five harmless sentences', (100 * amongOthers) / probes.length, '%'),
  ];
}

async function shipped(path: string): Promise<Row[]> {
  const texts = readLabelledTexts(path);
  const { heads } = moderationWeights();
  const scores = await shippedScores(texts);
  const found = forEachCategory((category) => ({ scores: [scores[category]], thresholds: heads[category].thresholds }));
  const learned = new Set([dataFiles.given, dataFiles.own].flatMap(readLabelledTexts).map(({ text }) => text));
  return [
    row('texts', texts.length, ''),
    // Figures for training texts predict nothing about other texts.
    row('of these, used in training', texts.filter(({ text }) => learned.has(text)).length, '', { max: 0 }),
    ...qualityRows(texts, found, 'shipped weights'),
  ];
}

async function benign(): Promise<Row[]> {
  const texts = readLabelledTexts(dataFiles.benign);
  const scores = await shippedScores(texts);
  return [
    row('harmless texts that training never reads', texts.length, 'texts', { min: 500 }),
    ...moderationPresets.map((preset) => {
      const flagged = texts.filter((_, index) => isFlagged(scores, index, preset));
      const max = falseAlarmAims[preset];
      const share = (100 * flagged.length) / texts.length;
      return row(`of these, flagged by ${preset}`, share, '%', max === undefined ? {} : { max });
    }),
  ];
}

const [path] = process.argv.slice(2);
const rows = path === undefined ? [...(await crossValidated()), ...(await benign())] : await shipped(resolve(path));
printReport('moderation', path === undefined ? [...rows, ...(await moderationSpeed())] : rows);
