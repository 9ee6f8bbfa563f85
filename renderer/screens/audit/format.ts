/** Numbers as the audit writes them. */

/** US dollars: four decimals below one, two below a hundred, thousands apart. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars < 0.0001) return '<$0.0001';
  if (dollars < 1) return `$${dollars.toFixed(4)}`;
  const digits = dollars < 100 ? 2 : 0;
  return `$${dollars.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** Every digit, thousands apart. */
export function formatWhole(count: number): string {
  return count.toLocaleString('en');
}
