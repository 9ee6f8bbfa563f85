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
