import { baseName, emptyDraft, type Reader } from '../draft.ts';

/** A text as it is. The newline that editors put at the end of a file is not part of it. */
export const readPlainText: Reader = (text, { name }) => {
  const draft = emptyDraft(baseName(name));
  if (/\.(j2|jinja2?|njk)$/i.test(name)) draft.style = 'jinja';
  if (/\.(hbs|handlebars|mustache)$/i.test(name)) draft.style = 'handlebars';
  draft.messages = [{ role: 'user', text: text.replace(/\r?\n$/, ''), line: 1 }];
  return [draft];
};
