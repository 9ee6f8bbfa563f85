/** Names that Windows keeps for devices, with any ending. */
const devices = /^(con|prn|aux|nul|com\d|lpt\d)$/i;
const mostCharacters = 80;

function segment(text: string): string {
  const safe = text
    .normalize('NFC')
    // Control characters, what file systems forbid, dots that begin an ending, and halves of characters.
    .replace(/[\p{C}<>:"/\\|?*.]+/gu, '-')
    .replace(/\s+/g, ' ')
    .replace(/^[\s_-]+|[\s-]+$/g, '');
  const short = [...safe].slice(0, mostCharacters).join('').trimEnd();
  if (short === '') return 'prompt';
  return devices.test(short) ? `${short}-prompt` : short;
}

/** Gives each prompt a file of its own: names that every usual file system takes, different also without regard to case. */
export function createFileNames(extension: string): (prompt: { name: string; folder: string | null }) => string {
  const taken = new Set<string>();
  return ({ name, folder }) => {
    const folders = (folder ?? '')
      .split('/')
      .filter((part) => part.trim() !== '')
      .slice(0, 8)
      .map(segment);
    const path = [...folders, segment(name)].join('/');
    for (let count = 1; ; count += 1) {
      const unique = `${path}${count === 1 ? '' : ` ${count}`}.${extension}`;
      if (taken.has(unique.toLowerCase())) continue;
      taken.add(unique.toLowerCase());
      return unique;
    }
  };
}
