import { FileAudio, FileText, Image as ImageIcon, type LucideIcon } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { StoredFile } from '../../../shared/contract/files.ts';
import { fileKindOf, type FileKind } from '../../../shared/file-kinds.ts';
import { useFileContent } from '../../queries/files.ts';
import { formatBytes, formatPlural, formatWhole } from '../format.ts';
import { Icon } from '../icon.tsx';
import './files.css';

const kindIcons: Readonly<Record<FileKind, LucideIcon>> = {
  image: ImageIcon,
  pdf: FileText,
  audio: FileAudio,
  text: FileText,
};

const typeNames: Readonly<Record<string, string>> = {
  'text/plain': 'Text',
  'text/markdown': 'Markdown',
  'audio/mpeg': 'MP3',
};

/** `image/jpeg` as people call it: JPEG. */
function typeName(mediaType: string): string {
  return typeNames[mediaType] ?? (mediaType.split('/')[1] ?? mediaType).toUpperCase();
}

/** Type, size, pixels and pages in one line. */
export function describeFile({
  mediaType,
  bytes,
  width = null,
  height = null,
  pages = null,
}: { mediaType: string; bytes: number } & Partial<Pick<StoredFile, 'width' | 'height' | 'pages'>>): string {
  return [
    typeName(mediaType),
    formatBytes(bytes),
    width !== null && height !== null && `${formatWhole(width)} × ${formatWhole(height)} px`,
    pages !== null && formatPlural(pages, 'page'),
  ]
    .filter(Boolean)
    .join(', ');
}

/** Pixels of a side; the screen may have two for one of CSS. */
const thumbnailPixels = 80;

/** Draws an image to fill the square. The window may not show images by address, so it is drawn. */
async function drawThumbnail(canvas: HTMLCanvasElement, content: Blob): Promise<void> {
  const full = await createImageBitmap(content);
  const side = Math.min(full.width, full.height);
  const [left, top] = [(full.width - side) / 2, (full.height - side) / 2];
  canvas.getContext('2d')?.drawImage(full, left, top, side, side, 0, 0, thumbnailPixels, thumbnailPixels);
  full.close();
}

interface ThumbnailProps {
  id: string;
  name: string;
  mediaType: string;
}

/** A small image of an image file; an icon for every other file, and for an image that can't be drawn. */
export function FileThumbnail({ id, name, mediaType }: ThumbnailProps) {
  const kind = fileKindOf(mediaType);
  const isImage = kind === 'image' && id !== '';
  const content = useFileContent(id, { isEnabled: isImage }).data;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [drawn, setDrawn] = useState<Blob | null>(null);
  useEffect(() => {
    if (!content || !canvas.current || typeof createImageBitmap === 'undefined') return;
    let isCurrent = true;
    void drawThumbnail(canvas.current, content).then(
      () => isCurrent && setDrawn(content),
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [content]);
  const isDrawn = drawn !== null && drawn === content;
  return (
    <span className="file-thumbnail">
      {isImage && (
        <canvas
          ref={canvas}
          width={thumbnailPixels}
          height={thumbnailPixels}
          hidden={!isDrawn}
          role="img"
          aria-label={`Preview of ${name}`}
        />
      )}
      {!isDrawn && <Icon icon={kindIcons[kind]} />}
    </span>
  );
}
