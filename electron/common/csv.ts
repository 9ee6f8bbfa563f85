/** Beginnings that a spreadsheet may take for a formula, also behind white space and in their wide forms. */
const formula = /^[\s\u0000\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;
const formulaSigns = /[=+\-@＝＋－＠]/g;

/**
 * Whether a cell of a spreadsheet that separates by semicolons or tabs starts before an offset: such a spreadsheet ignores our quotes in the
 * middle of a line, so it also starts a row at each line end. Stops at anything else; the next sign doesn't look beyond this one.
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
  // A spreadsheet shows what follows an apostrophe as text; numbers are ours and may be negative.
  const safe = text.replace(formulaSigns, (sign, offset: number) => (startsCell(text, offset) ? `'${sign}` : sign));
  return formula.test(text) ? `'${safe}` : safe;
}

/** One line as RFC 4180 has it, with its end. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = cellText(value);
    return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}
