import { type SourceDetail, type SourceProgress, stoppedReason } from '../../../shared/contract/knowledge-window.ts';
import type { SourceMediaType } from '../../../shared/contract/dataspaces.ts';
import { formatBytes, formatCount, formatPlural } from '../../components/format.ts';

const kinds: Readonly<Record<SourceMediaType, string>> = {
  'text/plain': 'Text',
  'text/markdown': 'Markdown',
  'text/html': 'HTML',
  'text/csv': 'CSV',
  'application/json': 'JSON',
  'application/pdf': 'PDF',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
};

/** The types that the file picker offers. The host checks the content, not the name. */
export const acceptedFiles =
  '.txt,.text,.md,.markdown,.html,.htm,.csv,.json,.pdf,.docx,text/*,application/pdf,application/json';

export function kindOf(mediaType: SourceMediaType): string {
  return kinds[mediaType];
}

/** What a row says of a source beside its name: kind, size, pages, passages. */
export function detailsOf({ mediaType, bytes, pages, passages }: SourceDetail): readonly string[] {
  return [
    kindOf(mediaType),
    formatBytes(bytes),
    ...(pages === null ? [] : [formatPlural(pages, 'page')]),
    ...(passages === null ? [] : [formatPlural(passages, 'passage')]),
  ];
}

/** The current step: `Embedding 120 of 900, 64 per second`. */
export function stageWords({ stage, passagesDone, passagesTotal, rate }: SourceProgress): string {
  if (stage === 'waiting') return 'Queued';
  if (stage === 'reading') return 'Reading';
  const count = passagesTotal === null ? '' : ` ${formatCount(passagesDone ?? 0)} of ${formatCount(passagesTotal)}`;
  const pace = rate === null || rate < 1 ? '' : `, ${Math.round(rate)} per second`;
  return `Embedding${count}${pace}`;
}

export function isStopped({ status, failureReason }: SourceDetail): boolean {
  return status === 'Failed' && failureReason === stoppedReason;
}
