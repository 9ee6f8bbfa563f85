import { AppError } from '../../shared/app-error.ts';
import type { SourceProgress } from '../../shared/contract/knowledge-window.ts';
import type { SourceMetadata, StoredSource } from '../storage/knowledge/source-store.ts';
import { target } from './chunking/passage-builder.ts';
import type { KnowledgeIndex } from './index/knowledge-index.ts';
import type { ParsedSource, Passage, SourceReader } from './parsing/parsed-source.ts';
import type { SourceFiles } from './source-files.ts';
import type { TextEmbedder } from './text-embedder.ts';

/** Passages that are embedded and written together: about half a second of work, so that Stop and progress respond quickly. */
const batchSize = 32;

const uncancelled = new AbortController().signal;

export interface IndexingTools {
  readonly files: SourceFiles;
  readonly reader: SourceReader;
  readonly embedder: () => TextEmbedder;
  readonly index: KnowledgeIndex;
}

export interface IndexingOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SourceProgress) => void;
  /** Called once, after the first passages of this attempt are written. */
  readonly onWritten: () => void;
}

const reading = (fraction: number): SourceProgress => ({
  stage: 'reading',
  fraction,
  passagesDone: null,
  passagesTotal: null,
  rate: null,
});

/** Headings name the subject of a passage that doesn't name it itself. */
const embeddedText = ({ heading, text }: Passage) => (heading === null ? text : `${heading}\n${text}`);

/**
 * Indexes one source from its file to searchable passages. Resumes an interrupted indexing of the same revision, unless the parser
 * has changed. Rejects with an `AppError` that gives the reason, or with an `AbortError`.
 */
export async function indexSource(
  source: StoredSource,
  tools: IndexingTools,
  { signal, onProgress, onWritten }: IndexingOptions,
): Promise<SourceMetadata> {
  const { files, reader, index } = tools;
  const embedder = tools.embedder();
  const { id, fileName, mediaType, dataspaceId } = source;
  onProgress(reading(0));
  if (!(await files.exists(id))) throw new AppError('not_found', 'The file of this source is missing. Add it again.');
  const file = { path: files.path(id), fileName, mediaType };
  const parsed = await reader.readSource(file, { signal, onProgress: (fraction) => onProgress(reading(fraction)) });
  await files.writeText(id, parsed);
  // Another version of the parser may chunk differently, and then older passages don't fit.
  const chunking = `${target.characters}/${parsed.text.length}/${parsed.passages.length}`;
  const revision = `${source.revision}/${embedder.model}/${chunking}`;
  const opened = await index.begin({ sourceId: id, dataspaceId, revision, embeddingModel: embedder.model }, { signal });
  await writePassages(parsed, {
    first: opened.passages,
    sourceId: id,
    revision,
    embedder,
    index,
    signal,
    onProgress,
    onWritten,
  });
  const { passages } = await index.finish({ sourceId: id, revision }, { signal });
  return {
    passages,
    pages: parsed.pages?.length ?? null,
    characters: parsed.text.length,
    embeddingModel: embedder.model,
  };
}

interface Writing extends IndexingOptions {
  readonly first: number;
  readonly sourceId: string;
  readonly revision: string;
  readonly embedder: TextEmbedder;
  readonly index: KnowledgeIndex;
}

/** Embeds the next passages while the previous ones are written. */
async function writePassages({ passages }: ParsedSource, writing: Writing): Promise<void> {
  const { first, sourceId, revision, embedder, index, signal, onProgress, onWritten } = writing;
  const startedAt = performance.now();
  const tell = (done: number): void => {
    const seconds = (performance.now() - startedAt) / 1000;
    onProgress({
      stage: 'embedding',
      fraction: done / passages.length,
      passagesDone: done,
      passagesTotal: passages.length,
      rate: done === first ? null : (done - first) / seconds,
    });
  };
  tell(first);
  let writingBefore = Promise.resolve();
  try {
    for (let position = first; position < passages.length; position += batchSize) {
      const batch = passages.slice(position, position + batchSize);
      const embedding = embedder.embed(batch.map(embeddedText), { signal });
      // Awaited together, so that no rejection is unhandled.
      const [vectors] = await Promise.all([embedding, writingBefore]);
      tell(position);
      if (position === first + batchSize) onWritten();
      // Embedded passages are written even after a stop, so that they need not be embedded again.
      const batchToWrite = { sourceId, revision, first: position, passages: batch, vectors };
      writingBefore = index.add(batchToWrite, { signal: uncancelled });
    }
  } finally {
    await writingBefore.catch(() => {});
  }
  await writingBefore;
  tell(passages.length);
}
