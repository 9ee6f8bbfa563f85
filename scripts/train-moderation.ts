// npm run tool -- train-moderation writes electron/moderation/weights/on-device-1.json from the files in data/moderation.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { categories, moderationPresets } from '../shared/contract/moderation.ts';
import { forEachCategory } from '../electron/moderation/provider-classifiers.ts';
import { readWeights, type WeightsFile } from '../electron/moderation/linear-model.ts';
import { dataFiles, fileHash, readLabelledTexts } from './moderation/corpus.ts';
import { crossValidate, withLabels } from './moderation/cross-validation.ts';
import { atThreshold, averagePrecision, mean } from './moderation/metrics.ts';
import { createFeatureSpace, toBase64 } from './moderation/feature-space.ts';
import { shippedScores } from './moderation/shipped-scores.ts';
import { hyperparameters, trainHeads, weighTexts } from './moderation/training.ts';

/** Texts with the scores that every machine must compute; the scores depend on the weights. */
const knownScoresFile = join(import.meta.dirname, '../tests/fixtures/moderation-scores.json');
const knownScores = z.array(z.object({ text: z.string() }));

const target = join(import.meta.dirname, '../electron/moderation/weights/on-device-1.json');

parseArgs();
const given = readLabelledTexts(dataFiles.given);
const own = readLabelledTexts(dataFiles.own);
const space = await createFeatureSpace([...given, ...own]);
const validated = crossValidate({ given, own }, space);

const trained = trainHeads(weighTexts(given, own), space);
const heads = categories.map((category) => {
  const { slope, offset, thresholds, scores } = validated[category];
  const head = trained[category];
  const scored = scores.map((draw) => withLabels(given, draw, category));
  const presets = moderationPresets.map((preset) => {
    const { precision, recall } = atThreshold(scored.flat(), thresholds[preset]);
    return `${preset} ${thresholds[preset]} precision ${precision.toFixed(2)} recall ${recall.toFixed(2)}`;
  });
  console.log([category, `AUPRC ${mean(scored.map(averagePrecision)).toFixed(3)}`, ...presets].join('  '));
  const { ngramScale, bias } = head;
  return [
    category,
    {
      embedding: toBase64(head.embedding),
      lexicon: [...head.lexicon],
      ngrams: toBase64(head.ngrams),
      ngramScale,
      bias,
      slope,
      offset,
      thresholds,
    },
  ] as const;
});

const file: WeightsFile = {
  model: 'on-device/touchstone-moderation-1',
  seed: hyperparameters.seed,
  data: Object.fromEntries([dataFiles.given, dataFiles.own].map((path) => [basename(path), fileHash(path)])),
  rarity: space.rarity,
  lexicon: space.lexicon,
  heads: Object.fromEntries(heads) as WeightsFile['heads'],
};
writeFileSync(target, `${JSON.stringify(file, null, 1)}\n`);

const known = knownScores.parse(JSON.parse(readFileSync(knownScoresFile, 'utf8')));
const scores = await shippedScores(known, readWeights(file));
const rescored = known.map(({ text }, index) => ({ text, scores: forEachCategory((each) => scores[each][index]!) }));
writeFileSync(knownScoresFile, `${JSON.stringify(rescored, null, 2)}\n`);
console.log(`Written: ${target}`);
