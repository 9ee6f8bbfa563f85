/** Beginnings that files which are no text have, and how a person calls them. */

interface Signature {
  readonly name: string;
  readonly at?: number;
  readonly bytes: string;
  /** The format is itself written as text. */
  readonly isText?: true;
}

const signatures: readonly Signature[] = [
  { name: 'a PNG picture', bytes: '\x89PNG\r\n' },
  { name: 'a JPEG picture', bytes: '\xff\xd8\xff' },
  { name: 'a GIF picture', bytes: 'GIF8' },
  { name: 'a WebP picture', at: 8, bytes: 'WEBP' },
  { name: 'a TIFF picture', bytes: 'II*\0' },
  { name: 'a TIFF picture', bytes: 'MM\0*' },
  { name: 'an icon', bytes: '\0\0\x01\0' },
  { name: 'a Photoshop picture', bytes: '8BPS' },
  { name: 'a HEIC or AVIF picture', at: 4, bytes: 'ftyphei' },
  { name: 'a HEIC or AVIF picture', at: 4, bytes: 'ftypavif' },
  { name: 'a film or sound recording', at: 4, bytes: 'ftyp' },
  { name: 'a film or sound recording', bytes: '\x1aE\xdf\xa3' },
  { name: 'a film or sound recording', bytes: 'RIFF' },
  { name: 'a sound recording', bytes: 'ID3' },
  { name: 'a sound recording', bytes: 'OggS' },
  { name: 'a sound recording', bytes: 'fLaC' },
  { name: 'a gzip archive', bytes: '\x1f\x8b' },
  { name: 'a bzip2 archive', bytes: 'BZh' },
  { name: 'an XZ archive', bytes: '\xfd7zXZ' },
  { name: 'a Zstandard archive', bytes: '(\xb5/\xfd' },
  { name: 'a 7-Zip archive', bytes: '7z\xbc\xaf' },
  { name: 'a RAR archive', bytes: 'Rar!' },
  { name: 'a tar archive', at: 257, bytes: 'ustar' },
  { name: 'a program', bytes: '\x7fELF' },
  { name: 'a program', bytes: 'MZ\x90' },
  { name: 'a program', bytes: '\xcf\xfa\xed\xfe' },
  { name: 'a program', bytes: '\xca\xfe\xba\xbe' },
  { name: 'a WebAssembly program', bytes: '\0asm' },
  { name: 'an SQLite database', bytes: 'SQLite format 3\0' },
  { name: 'a Parquet table', bytes: 'PAR1' },
  { name: 'a font', bytes: 'wOF' },
  { name: 'a font', bytes: 'OTTO' },
  { name: 'a font', bytes: '\0\x01\0\0\0' },
  { name: 'an RTF document', bytes: '{\\rtf', isText: true },
  { name: 'a PostScript document', bytes: '%!PS', isText: true },
  { name: 'a language model (GGUF)', bytes: 'GGUF' },
];

/**
 * What the first bytes of a file say that it is; `null` when they are of none of the kinds known here. Where all of them are
 * text, a word such as `OTTO` at the beginning says nothing.
 */
export function kindBySignature(head: Buffer, options: { readonly isText: boolean }): string | null {
  const text = head.toString('latin1', 0, 512);
  const found = signatures.find(
    ({ at = 0, bytes, isText }) => text.startsWith(bytes, at) && (isText || !options.isText),
  );
  return found?.name ?? null;
}

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** Microsoft's compound files: old Office documents, and the envelope around encrypted new ones. */
export function isCompoundFile(head: Buffer): boolean {
  return head.subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'));
}

/** Whether a compound file is the envelope of an encrypted document; its directory may lie anywhere in the file. */
export function isEncryptedOffice(bytes: Buffer): boolean {
  return bytes.includes(utf16('EncryptedPackage'));
}

/** What a compound file most likely is. */
export function kindOfCompoundFile(bytes: Buffer): string {
  if (bytes.includes(utf16('WordDocument'))) return 'an old Word document (.doc); save it as .docx';
  if (bytes.includes(utf16('Workbook'))) return 'an old Excel workbook (.xls); save it as .csv';
  if (bytes.includes(utf16('PowerPoint Document'))) return 'an old PowerPoint presentation (.ppt); save it as PDF';
  if (bytes.includes(utf16('__substg1.0_'))) return 'an Outlook message (.msg); save it as text';
  return 'an old Office document';
}
