export const hostFlags: readonly string[];
export function buildIfStale(node?: string): Promise<void>;
export function runBuilt(
  program: 'serve' | 'keys' | 'compare',
  parameters: readonly string[],
  node?: string,
): Promise<void>;
