/** Most models scale larger images down before they see them. */
export const maxUsefulSide = 1568;

const quality = 0.88;

/** GIFs may be animated, and a smaller version would lose that. */
export function canBeSmaller(mediaType: string): boolean {
  return ['image/png', 'image/jpeg', 'image/webp'].includes(mediaType);
}

export interface SmallerImage {
  readonly file: File;
  readonly width: number;
  readonly height: number;
}

/** An image as JPEG whose longer side has at most `maxUsefulSide` pixels. The browser decodes and encodes it in its own threads. */
export async function makeSmaller(content: Blob, name: string): Promise<SmallerImage> {
  const image = await createImageBitmap(content);
  try {
    const factor = Math.min(1, maxUsefulSide / Math.max(image.width, image.height));
    const width = Math.max(1, Math.round(image.width * factor));
    const height = Math.max(1, Math.round(image.height * factor));
    const canvas = new OffscreenCanvas(width, height);
    const drawing = canvas.getContext('2d')!;
    // JPEG has no transparency.
    drawing.fillStyle = '#fff';
    drawing.fillRect(0, 0, width, height);
    drawing.imageSmoothingQuality = 'high';
    drawing.drawImage(image, 0, 0, width, height);
    const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality });
    const file = new File([blob], name.replace(/(?:\.\w+)?$/, '.jpg'), { type: 'image/jpeg' });
    return { file, width, height };
  } finally {
    image.close();
  }
}
