/** Beginnings that a spreadsheet may take for a formula, also behind white space and in their wide forms. */
const formula = /^[\s\u0000\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/;

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A spreadsheet shows what follows an apostrophe as text; numbers are ours and may be negative.
  return formula.test(text) ? `'${text}` : text;
}

/** One line as RFC 4180 has it, with its end. */
export function csvLine(values: readonly unknown[]): string {
  const cells = values.map((value) => {
    const text = cellText(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${cells.join(',')}\r\n`;
}
