import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { createKnowledge, type Knowledge } from '../../electron/knowledge/create-knowledge.ts';
import { forkChild } from '../../electron/child-process/child.ts';
import type { KnowledgeIndex } from '../../electron/knowledge/index/knowledge-index.ts';
import type { ReadSourceOptions, SourceFile, SourceReader } from '../../electron/knowledge/parsing/parsed-source.ts';
import type { TextEmbedder } from '../../electron/knowledge/text-embedder.ts';
import { openStorage } from '../../electron/storage/open-storage.ts';
import type { Storage } from '../../electron/storage/storage.ts';
import type { Source } from '../../shared/contract/dataspaces.ts';

const never = new AbortController().signal;

/** Every line is a passage. Stands for the real reader where a test has to hold it up or make it fail. */
async function readLines({ path }: SourceFile) {
  const text = await readFile(path, 'utf8');
  let start = 0;
  const passages = text.split('\n').map((line, ordinal) => {
    const passage = { ordinal, text: line, start, end: start + line.length, page: null, heading: null, tokens: 1 };
    start += line.length + 1;
    return passage;
  });
  return { text, pages: null, passages };
}

/** A vector in which each letter of a text counts: enough to tell one text from another, and quick. */
function letterVector(text: string): Float32Array {
  const vector = new Float32Array(26).fill(0.01);
  for (const letter of text.toLowerCase()) {
    const position = letter.charCodeAt(0) - 97;
    if (position >= 0 && position < 26) vector[position]! += 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** What a test may hold up, make fail or change. */
export interface KnowledgeSettings {
  /** Awaited before a file is read. */
  beforeReading: (file: SourceFile, options: ReadSourceOptions) => Promise<void>;
  /** Awaited before texts are embedded. */
  beforeEmbedding: (texts: readonly string[], options: { signal: AbortSignal }) => Promise<void>;
  embeddingModel: string;
}

export interface KnowledgeWorld {
  readonly directory: string;
  readonly knowledge: Knowledge;
  readonly storage: Storage;
  readonly index: KnowledgeIndex;
  readonly settings: KnowledgeSettings;
  /** Texts that were embedded, in order. */
  readonly embedded: string[];
  readonly log: string[];
  add(name: string, text: string, dataspaceId?: string): Promise<Source>;
  /** Resolves once the source is no longer `Processing`. */
  settled(id: string): Promise<Source>;
  /** Texts of what is found for some words, best first. */
  found(text: string, dataspaceId?: string): Promise<string[]>;
  /** Names of everything in the folder of sources. */
  files(): string[];
  /** Ends it as the host does, and begins again on the same folder. */
  restart(whileClosed?: () => void): Promise<KnowledgeWorld>;
}

/** Dataspaces and sources on a folder of their own with a real database and a real index. */
export async function startKnowledge(
  changes: Partial<KnowledgeSettings> = {},
  directory = mkdtempSync(join(tmpdir(), 'touchstone-knowledge-')),
): Promise<KnowledgeWorld> {
  const settings: KnowledgeSettings = {
    beforeReading: async () => {},
    beforeEmbedding: async () => {},
    embeddingModel: 'letters/1',
    ...changes,
  };
  const embedded: string[] = [];
  const log: string[] = [];
  const reader: SourceReader = {
    async readSource(file, options) {
      await settings.beforeReading(file, options);
      options.signal.throwIfAborted();
      return readLines(file);
    },
    close: async () => {},
  };
  const embedder = (): TextEmbedder => ({
    model: settings.embeddingModel,
    async embed(texts, options) {
      await settings.beforeEmbedding(texts, options);
      options.signal.throwIfAborted();
      embedded.push(...texts);
      return texts.map(letterVector);
    },
  });
  const storage = openStorage({ directory });
  const knowledge = await createKnowledge({
    dataDirectory: directory,
    storage,
    reader,
    startChild: forkChild,
    embedder,
    log: (message, error) => void log.push(`${message} ${String(error)}`),
  });
  const { index } = knowledge;
  let isOpen = true;
  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await knowledge.close();
    await storage.close();
  }
  onTestFinished(async () => {
    await close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
  });

  return {
    directory,
    knowledge,
    storage,
    index,
    settings,
    embedded,
    log,
    async add(name, text, dataspaceId) {
      await using file = await knowledge.sources.incoming();
      await file.receive(Readable.from([Buffer.from(text)]));
      return await knowledge.sources.create({ name, dataspaceId, fileName: `${name}.txt` }, file, { signal: never });
    },
    settled(id) {
      const { promise, resolve } = Promise.withResolvers<Source>();
      const scan = () => {
        const source = knowledge.sources.read(id);
        if (source.status !== 'Processing') resolve(source);
      };
      const unsubscribe = knowledge.subscribe(scan);
      scan();
      return promise.finally(unsubscribe);
    },
    async found(text, dataspaceId) {
      const dataspaceIds = dataspaceId ? [dataspaceId] : knowledge.dataspaces.summaries().map(({ id }) => id);
      const hits = await index.search({ dataspaceIds, text, embedding: null, limit: 100 }, { signal: never });
      return hits.map((hit) => hit.text);
    },
    files: () => readdirSync(join(directory, 'sources'), { recursive: true }).map(String).toSorted(),
    async restart(whileClosed) {
      await close();
      whileClosed?.();
      return startKnowledge(settings, directory);
    },
  };
}
