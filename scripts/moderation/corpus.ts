import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { categories, type Category } from '../../shared/contract/moderation.ts';
import { windowTexts, type WindowText } from '../../electron/moderation/windows.ts';
import { createEmbeddings, embeddingDimensions, type Embeddings } from '../../electron/on-device/embeddings.ts';

const root = join(import.meta.dirname, '../..');

/** Labelled texts of the project; see `data/moderation/README.md`. */
export const dataFiles = {
  given: join(root, 'data/moderation/openai-evaluation-half.jsonl'),
  own: join(root, 'data/moderation/own-training.jsonl'),
  benign: join(root, 'data/moderation/benign-held-out.jsonl'),
} as const;

const cacheFolder = join(root, '.cache/moderation');

const label = z.union([z.literal(0), z.literal(1), z.null()]).optional();
const line = z.object({ prompt: z.string(), S: label, H: label, HR: label, SH: label, V: label });

const labelNames: Readonly<Record<Category, 'S' | 'H' | 'HR' | 'SH' | 'V'>> = {
  sexual: 'S',
  hatred: 'H',
  harassment: 'HR',
  selfHarm: 'SH',
  violence: 'V',
};

export interface LabelledText {
  readonly text: string;
  /** A missing category is unknown. */
  readonly labels: Readonly<Partial<Record<Category, boolean>>>;
  /** Normalized windows and sentences, in the classifier's form. */
  readonly windows: readonly WindowText[];
}

/** Reads a file of lines `{"prompt", "S", "H", "HR", "SH", "V"}`; a missing label means unknown. */
export function readLabelledTexts(path: string): LabelledText[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const row = line.parse(JSON.parse(text));
      const known = categories.flatMap((category) => {
        const value = row[labelNames[category]];
        return value == null ? [] : [[category, value === 1] as const];
      });
      return { text: row.prompt, labels: Object.fromEntries(known), windows: windowTexts(row.prompt) };
    });
}

export function fileHash(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

const keyOf = (text: string) => createHash('sha256').update(text).digest('hex');

function readCache(cacheFile: string): Map<string, Float32Array> {
  const cache = new Map<string, Float32Array>();
  if (!existsSync(cacheFile)) return cache;
  for (const text of readFileSync(cacheFile, 'utf8').split('\n')) {
    if (text === '') continue;
    const { k, v } = JSON.parse(text) as { k: string; v: string };
    cache.set(k, new Float32Array(Uint8Array.from(Buffer.from(v, 'base64')).buffer));
  }
  return cache;
}

/** Identifies an engine by its embedding of a sentence: a change of its arithmetic gets a separate cache. */
async function fingerprint(embeddings: Embeddings): Promise<string> {
  const [vector] = await embeddings.embed(['The quick brown fox.'], { signal: new AbortController().signal });
  return createHash('sha256').update(Float32Array.from(vector!)).digest('hex').slice(0, 16);
}

/**
 * Embeddings of texts, by text. They are cached in `.cache/moderation`, because they take most of a training's time and are
 * constant for an engine.
 */
export async function embedAll(texts: Iterable<string>): Promise<ReadonlyMap<string, Float32Array>> {
  const embeddings = createEmbeddings();
  const cacheFile = join(cacheFolder, `${await fingerprint(embeddings)}.jsonl`);
  const cache = readCache(cacheFile);
  const missing = [...new Set(texts)].filter((text) => !cache.has(keyOf(text)));
  if (missing.length > 0) {
    console.error(`Embedding ${missing.length} passages`);
    mkdirSync(cacheFolder, { recursive: true });
    const batch = 50;
    for (let start = 0; start < missing.length; start += batch) {
      const part = missing.slice(start, start + batch);
      const vectors = await embeddings.embed(part, { signal: new AbortController().signal });
      for (const [index, text] of part.entries()) {
        const vector = Float32Array.from(vectors[index]!);
        cache.set(keyOf(text), vector);
        const v = Buffer.from(vector.buffer, 0, embeddingDimensions * 4).toString('base64');
        appendFileSync(cacheFile, `${JSON.stringify({ k: keyOf(text), v })}\n`);
      }
    }
  }
  await embeddings.close();
  return { get: (text: string) => cache.get(keyOf(text)) } as ReadonlyMap<string, Float32Array>;
}
