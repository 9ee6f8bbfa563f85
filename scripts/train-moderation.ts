// npm run train:moderation writes electron/moderation/weights/on-device-1.json from the files in data/moderation.
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { categories } from '../shared/contract/moderation.ts';
import type { WeightsFile } from '../electron/moderation/linear-model.ts';
import { dataFiles, fileHash, readLabelledTexts } from './moderation/corpus.ts';
import { crossValidate, withLabels } from './moderation/cross-validation.ts';
import { atThreshold, averagePrecision } from './moderation/metrics.ts';
import { createFeatureSpace, hyperparameters, toBase64, trainHead, weighTexts } from './moderation/training.ts';

const target = join(import.meta.dirname, '../electron/moderation/weights/on-device-1.json');

const given = readLabelledTexts(dataFiles.given);
const own = readLabelledTexts(dataFiles.own);
const space = await createFeatureSpace([...given, ...own]);
const validated = crossValidate(given, own, space);

const all = weighTexts(given, own);
const heads = categories.map((category) => {
  const { slope, offset, threshold, scores } = validated[category];
  const head = trainHead(category, all, space);
  const scored = withLabels(given, scores, category);
  const { precision, recall } = atThreshold(scored, threshold);
  console.log(
    `${category.padEnd(12)} AUPRC ${averagePrecision(scored).toFixed(3)}  threshold ${threshold}  precision ${precision.toFixed(2)}  recall ${recall.toFixed(2)}`,
  );
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
      threshold,
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
console.log(`Written: ${target}`);
