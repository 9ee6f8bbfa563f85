/** Names that Windows keeps for devices, with any ending. */
const devices = /^(con|prn|aux|nul|com\d|lpt\d)$/i;
const maxCharacters = 80;

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s-]/.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function segment(text: string): string {
  const safe = text
    .normalize('NFC')
    // Control characters, what file systems forbid, dots that begin an ending, and halves of characters.
    .replace(/[\p{C}<>:"/\\|?*.]+/gu, '-')
    .replace(/\s+/g, ' ')
    .replace(/^[\s_-]+/, '');
  const short = [...withoutEnd(safe)].slice(0, maxCharacters).join('').trimEnd();
  if (short === '') return 'prompt';
  return devices.test(short) ? `${short}-prompt` : short;
}

/** The folders of a library as folders of a disk, parted by `/`. */
export function folderPath(folder: string | null): string[] {
  return (folder ?? '')
    .split('/')
    .filter((part) => part.trim() !== '')
    .slice(0, 8)
    .map(segment);
}

/**
 * Gives each prompt a file of its own: names that every usual file system takes, different also without regard to case, from each other and
 * from those that are taken.
 */
export function createFileNames(
  extension: string,
  alreadyTaken: Iterable<string> = [],
): (prompt: { name: string; folder: string | null }) => string {
  const taken = new Set([...alreadyTaken].map((path) => path.toLowerCase()));
  return ({ name, folder }) => {
    const path = [...folderPath(folder), segment(name)].join('/');
    for (let count = 1; ; count += 1) {
      const unique = `${path}${count === 1 ? '' : ` ${count}`}.${extension}`;
      if (taken.has(unique.toLowerCase())) continue;
      taken.add(unique.toLowerCase());
      return unique;
    }
  };
}
