import { type Finder, findWith, joined, type Span } from './spans.ts';

/** The form of keys and tokens, by their first characters: of providers of models, of code hosts, of clouds, and signed tokens. */
const forms = [
  /^(?:sk|rk|pk|gsk|xai|pplx|r8|hf|npm|glpat|shpat|ts|github_pat|gh[opusr])[-_](?=[\w-]*\d)[\w-]{16,}$/,
  /^AIza[\w-]{30,}$/,
  /^(?:AKIA|ASIA)[A-Z\d]{16}$/,
  /^xox[abeoprs]-[\w-]{10,}$/,
  /^ya29\.[\w.-]{20,}$/,
  /^eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}$/,
];

const minCharacters = 16;
const maxCharacters = 8192;

function* knownForms(text: string): Generator<Span, void, void> {
  for (const match of text.matchAll(/[\w.-]+/g)) {
    const run = match[0].replace(/[.-]$/, '');
    if (run.length < minCharacters || run.length > maxCharacters) continue;
    if (forms.some((form) => form.test(run))) yield { start: match.index, end: match.index + run.length };
  }
}

/** The beginning of a value that a text itself calls a secret. A name of a variable has no digit or isn't in quotes. */
const named =
  /(?:bearer {1,4}|(?:api[_-]?key|secret|passwor[dt]|passwd|(?:access|auth)[_-]?token)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)([^\s"'`,;<>(){}[\]]{8,200})/dgi;

/** Searched for on its own: an expression that repeats a group for megabytes overflows the stack. */
const valueEnd = /[\s"'`,;<>(){}[\]]|$/g;

const findNamed = findWith(named, (match) => {
  const [start, end] = match.indices![1]!;
  if (!/\d/.test(match[1]!) || match[1]!.includes('$')) return null;
  valueEnd.lastIndex = end;
  return { start, end: valueEnd.exec(match.input)!.index };
});

const keyBegin = '-----BEGIN ';
const keyTitle = 'PRIVATE KEY-----';
const keyEnd = '-----END ';

/** Private keys as files have them. One without an end reaches to the end of the text. */
function* privateKeys(text: string): Generator<Span, void, void> {
  for (let start = text.indexOf(keyBegin); start !== -1;) {
    const title = text.slice(start, start + 60).indexOf(keyTitle);
    if (title === -1) {
      start = text.indexOf(keyBegin, start + keyBegin.length);
      continue;
    }
    const last = text.indexOf(keyEnd, start);
    const close = last === -1 ? -1 : text.indexOf('-----', last + keyEnd.length);
    const end = close === -1 ? text.length : close + 5;
    yield { start, end };
    start = text.indexOf(keyBegin, end);
  }
}

/** Keys, tokens, passwords that are called so, and private keys. The time is linear in the length of any text. */
export const findSecrets: Finder = (text) => joined([...privateKeys(text), ...knownForms(text), ...findNamed(text)]);
