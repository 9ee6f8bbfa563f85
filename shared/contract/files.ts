import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Files';

/** 20 MB. */
export const maxFileBytes = 20 * 1_048_576;
/** Of all decoded files of one request: 50 MB. */
export const maxRequestFileBytes = 50 * 1_048_576;

/** Detected from the content. The name and the caller's type only choose between text formats. */
export const fileMediaTypes = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'application/pdf',
  'text/plain',
  'text/markdown',
  'text/csv',
  'text/html',
  'application/json',
  'audio/mpeg',
  'audio/wav',
  'audio/ogg',
  'audio/flac',
  'audio/aac',
  'audio/mp4',
] as const;
/** Whether files of this type are sent to a model as text. */
export const isTextType = (mediaType: string) => mediaType.startsWith('text/') || mediaType === 'application/json';

export const fileMediaType = z.enum(fileMediaTypes).meta({ id: 'FileMediaType' });
export type FileMediaType = z.infer<typeof fileMediaType>;

/** What a PDF is sent as: itself, the text that it contains, or an image of each page. */
export const fileForms = ['file', 'text', 'pages'] as const;
export type FileForm = (typeof fileForms)[number];

/** How sharp the images of pages are. */
export const pageResolutions = ['low', 'medium', 'high'] as const;
export type PageResolution = (typeof pageResolutions)[number];

/** Pixels of the longer side. APIs reject many images of more than 2,000, and scale to about 1,536. */
export const pagePixels: Readonly<Record<PageResolution, number>> = { low: 768, medium: 1536, high: 2000 };

/** SHA-256 of the stored content. */
export const fileId = z.string().regex(/^[\da-f]{64}$/i, 'must be a file ID: 64 hexadecimal digits');

export const storedFile = z
  .object({
    id: fileId.describe('SHA-256 of the stored content, in hexadecimal'),
    mediaType: fileMediaType,
    name: z.string(),
    bytes: z.int(),
    width: z.int().nullable().describe('Pixels of an image; otherwise null'),
    height: z.int().nullable().describe('Pixels of an image; otherwise null'),
    pages: z.int().nullable().describe('Pages of a PDF; otherwise null'),
  })
  .meta({ id: 'File' });
export type StoredFile = z.infer<typeof storedFile>;

const fileForm = z.strictObject({
  keepLocation: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .optional()
    .describe(
      '`true` stores a JPEG, PNG or WebP image with its metadata, which can hold the location; `false` by default',
    ),
});

export const createFile = defineEndpoint({
  id: 'createFile',
  method: 'post',
  path: '/files',
  access: 'run',
  tag,
  summary: 'Store a file for prompts',
  description:
    'Accepts one PNG, JPEG, WebP or GIF image, PDF, text or audio file of at most 20 MB. The type is detected from the content. Metadata of images, such as the location, is removed unless `keepLocation` is `true`. Status 200 if the same content is stored already. A file that no run uses is removed after a day.',
  form: { fields: fileForm, maximumFileBytes: maxFileBytes },
  status: 201,
  response: storedFile,
});

export const readFile = defineEndpoint({
  id: 'readFile',
  method: 'get',
  path: '/files/{id}',
  access: 'run or audit',
  tag,
  summary: 'Download a file',
  description:
    'Returns the stored content to the key that sent it, to the key of a run that uses it, and to keys with the scope `audit`. Status 404 for any other key.',
  parameters: z.object({ id: fileId }),
  kinds: ['file'],
  errors: [404],
});

export const readFileDetails = defineEndpoint({
  id: 'readFileDetails',
  method: 'get',
  path: '/window/files/{id}',
  access: 'window',
  tag: 'Window: files',
  summary: 'Type, size and name of a file',
  parameters: z.object({ id: fileId }),
  response: storedFile,
  errors: [404],
});

export const storeSourceFile = defineEndpoint({
  id: 'storeSourceFile',
  method: 'post',
  path: '/window/files/from-source',
  access: 'window',
  tag: 'Window: files',
  summary: 'Store the original of a source as a file',
  body: z.strictObject({ sourceId: z.string() }),
  response: storedFile,
  errors: [404],
});
