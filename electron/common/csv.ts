/** Prefixes that a spreadsheet may read as a formula, also after white space and in their full-width forms. */
const formula = /^[\s\u0000\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;
const formulaSigns = /[=+\-@＝＋－＠]/g;

/**
 * Whether a cell starts before an offset for a spreadsheet that separates by semicolons or tabs. Such a spreadsheet ignores our
 * quotes in the middle of a line, so it also starts a row at each line end. The search stops at any other character, so the next
 * sign doesn't look beyond this one.
 */
function startsCell(text: string, offset: number): boolean {
  for (let index = offset - 1; index >= 0; index -= 1) {
    if (/[;\t\r\n]/.test(text[index]!)) return true;
    if (!/[\s\u0000\ufeff"]/.test(text[index]!)) return false;
  }
  return false;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A spreadsheet shows the text after an apostrophe unchanged. Our numbers may be negative.
  const safe = text.replace(formulaSigns, (sign, offset: number) => (startsCell(text, offset) ? `'${sign}` : sign));
  return formula.test(text) ? `'${safe}` : safe;
}

/** One line in the format of RFC 4180, with its line end. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = cellText(value);
    return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}
