import type { CategoryScores } from '../../shared/contract/moderation-window.ts';
import { categories } from '../../shared/contract/moderation.ts';
import { csvLine } from '../common/csv.ts';
import type { ModerationBatch } from './batch.ts';

/** One JSON object a line. A label that nobody gave, and a score that is not there, is null. */
function jsonLines(batch: ModerationBatch, thresholds: readonly CategoryScores[]): string {
  let content = '';
  for (const { text, labels, judged, index } of batch.records(thresholds)) {
    const classifiers = judged.map(({ model, scores, flagged }) => ({
      model,
      scores: scores && Object.fromEntries(categories.map((category, at) => [category, scores[at]])),
      flagged,
    }));
    content += `${JSON.stringify({ index, text, labels, classifiers })}\n`;
  }
  return content;
}

function csv(batch: ModerationBatch, thresholds: readonly CategoryScores[]): string {
  const names = batch.state().classifiers.map((_, place) => 'ab'[place]!);
  const ofClassifiers = names.flatMap((name) => [
    `${name}_model`,
    ...categories.map((each) => `${name}_${each}`),
    `${name}_flagged`,
  ]);
  let content = csvLine(['index', 'text', ...categories.map((each) => `label_${each}`), ...ofClassifiers]);
  for (const { text, labels, judged, index } of batch.records(thresholds)) {
    const cells = judged.flatMap(({ model, scores, flagged }) => [
      model,
      ...categories.map((_, at) => scores?.[at]),
      flagged?.join(' '),
    ]);
    content += csvLine([index, text, ...categories.map((each) => labels?.[each]), ...cells]);
  }
  return content;
}

/** A batch as a file: its name and its text. */
export function exportedBatch(
  batch: ModerationBatch,
  format: 'csv' | 'jsonl',
  thresholds: readonly CategoryScores[],
): { fileName: string; content: string } {
  const name =
    batch
      .state()
      .name.replace(/\.\w{1,5}$/, '')
      .replace(/\W+/g, '-')
      .replace(/^-|-$/g, '') || 'texts';
  const content = format === 'csv' ? csv(batch, thresholds) : jsonLines(batch, thresholds);
  return { fileName: `${name}-moderation.${format}`, content };
}
