import type { AiSystem } from './contract/common.ts';
import type { StoredFile } from './contract/files.ts';

/** What providers distinguish when they take files. */
export const fileKinds = ['image', 'pdf', 'audio', 'text'] as const;
export type FileKind = (typeof fileKinds)[number];

export function fileKindOf(mediaType: string): FileKind {
  if (mediaType.startsWith('image/')) return 'image';
  if (mediaType.startsWith('audio/')) return 'audio';
  return mediaType === 'application/pdf' ? 'pdf' : 'text';
}

export const fileKindNames: Readonly<Record<FileKind, string>> = {
  image: 'images',
  pdf: 'PDF files',
  audio: 'audio',
  text: 'text files',
};

/** Images are scaled to fit into a square before anything is counted. */
function scaledToFit(width: number, height: number, side: number): [width: number, height: number] {
  const factor = Math.min(1, side / Math.max(width, height));
  return [width * factor, height * factor];
}

/** OpenAI: fits into 2,048 × 2,048, then the shorter side is 768; 170 tokens for each tile of 512 pixels, and 85. */
function openAiImageTokens(width: number, height: number): number {
  const [fittingWidth, fittingHeight] = scaledToFit(width, height, 2048);
  const factor = Math.min(1, 768 / Math.min(fittingWidth, fittingHeight));
  const tiles = Math.ceil((fittingWidth * factor) / 512) * Math.ceil((fittingHeight * factor) / 512);
  return 85 + 170 * tiles;
}

/** Gemini: 258 tokens for a small image, otherwise for each tile of 768 pixels. */
function geminiImageTokens(width: number, height: number): number {
  if (Math.max(width, height) <= 384) return 258;
  return 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
}

/** Anthropic: 1 token for 750 pixels, after the longer side is scaled to 1,568. Others publish no rule. */
function imageTokens(width: number, height: number): number {
  const [fittingWidth, fittingHeight] = scaledToFit(width, height, 1568);
  return Math.min(1600, Math.ceil((fittingWidth * fittingHeight) / 750));
}

/** Of what is sent for a PDF: text and an image of each page, or only the image for Gemini. */
const tokensPerPage = (aiSystem: AiSystem | null) => (aiSystem === 'GoogleGemini' ? 258 : 2000);

/** A page of text. */
const textTokensPerPage = 600;

/** About how many tokens the text of a PDF has. */
export function estimateTextTokens({ pages }: Pick<StoredFile, 'pages'>): number {
  return (pages ?? 1) * textTokensPerPage;
}

/** About how many tokens images of pages have, whose longer side has these pixels. */
export function estimatePageTokens(count: number, pixels: number, aiSystem: AiSystem | null): number {
  // The page of a letter, upright.
  const page = { mediaType: 'image/jpeg', width: Math.round(pixels / Math.SQRT2), height: pixels } as const;
  return count * estimateFileTokens({ ...page, pages: null, bytes: 0 }, aiSystem);
}

/** About how many tokens a file has on a provider, by the rule that the provider publishes. */
export function estimateFileTokens(
  { mediaType, width, height, pages, bytes }: Pick<StoredFile, 'mediaType' | 'width' | 'height' | 'pages' | 'bytes'>,
  aiSystem: AiSystem | null,
): number {
  switch (fileKindOf(mediaType)) {
    case 'text':
      return Math.ceil(bytes / 4);
    case 'pdf':
      return (pages ?? 1) * tokensPerPage(aiSystem);
    case 'audio':
      // About 32 tokens a second, at 128 kbit a second.
      return Math.ceil(bytes / 500);
    case 'image': {
      const [shownWidth, shownHeight] = [width ?? 1000, height ?? 1000];
      if (aiSystem === 'OpenAi') return openAiImageTokens(shownWidth, shownHeight);
      if (aiSystem === 'GoogleGemini') return geminiImageTokens(shownWidth, shownHeight);
      return imageTokens(shownWidth, shownHeight);
    }
  }
}
