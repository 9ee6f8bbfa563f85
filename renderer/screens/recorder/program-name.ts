/** Names that people know, by what the programs call themselves. */
const knownNames: ReadonlyMap<string, string> = new Map([
  ['claude-cli', 'Claude Code'],
  ['codex_exec', 'Codex'],
  ['codex_cli_rs', 'Codex'],
  ['codex-tui', 'Codex'],
]);

/** What browsers and programs made of one call themselves, too. The last ones say most. */
const browserParts = ['Mozilla', 'AppleWebKit', 'Gecko', 'Version', 'Mobile', 'Safari', 'Chrome', 'Electron'];

const version = /^v?\d[\w.+-]*$/;

interface Product {
  readonly name: string;
  readonly version: string;
}

/** The products of a user agent: `name/version`, or a name with a version after it, as OpenAI's libraries write it. */
function productsOf(userAgent: string): Product[] {
  const words = userAgent.replaceAll(/\([^()]*\)/g, ' ').split(/\s+/);
  return words.flatMap((word, index): Product[] => {
    if (word === '' || version.test(word)) return [];
    const slash = word.lastIndexOf('/');
    const last = word.slice(slash + 1);
    if (slash > 0 && version.test(last)) return [{ name: word.slice(0, slash), version: last }];
    const next = words[index + 1] ?? '';
    return [{ name: word, version: version.test(next) ? next : '' }];
  });
}

/** The name and the version of a program, from its user agent. */
export function programName(userAgent: string | null): string {
  if (userAgent === null) return 'unknown';
  // Redaction leaves marks.
  if (!/^[\w.@+/-]/.test(userAgent)) return userAgent;
  const products = productsOf(userAgent);
  const [first] = products;
  if (!first || first.version === '') return userAgent;
  const rank = ({ name }: Product) => (browserParts.includes(name) ? browserParts.indexOf(name) : browserParts.length);
  const shown = rank(first) === 0 ? products.reduce((best, next) => (rank(next) > rank(best) ? next : best)) : first;
  return `${knownNames.get(shown.name) ?? shown.name} ${shown.version}`.trimEnd();
}
