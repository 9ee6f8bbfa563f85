const scripts = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;

/** One letter of a script without spaces between words. There each letter is indexed as a word, and a word is found as a phrase. */
const letter = new RegExp(`[${scripts}]`, 'u');
const letters = new RegExp(`[${scripts}]`, 'gu');

/** Most texts have nothing else, and this check is much faster. */
// oxlint-disable-next-line no-control-regex -- these are exactly the characters of ASCII
const ascii = /^[\0-\x7f]*$/;

/** The words of texts in any script, marks on their letters included. */
export const wordForm = new RegExp(
  String.raw`[[\p{L}\p{N}\p{Co}\p{M}]&&[${scripts}]]\p{M}*|[[\p{L}\p{N}\p{Co}\p{M}]--[${scripts}]]+`,
  'gv',
);

/** Whether a text has letters of a script that puts no spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. */
export function isUnspaced(text: string): boolean {
  return !ascii.test(text) && letter.test(text);
}

/** The indexed form of a text: letters of scripts without spaces are separated. */
export function spacedText(text: string): string {
  return isUnspaced(text) ? text.normalize('NFC').replace(letters, ' $& ') : text;
}
