/**
 * How likely at least one of `drawn` repeats passes, estimated without bias from `repeats`, of which `passes` passed (pass@N).
 *
 * M. Chen et al. (2021), Evaluating large language models trained on code. arXiv 2107.03374, section 2.1.
 */
export function passAtN(repeats: number, passes: number, drawn: number): number {
  return 1 - passAllN(repeats, repeats - passes, drawn);
}

/**
 * How likely all of `drawn` repeats pass, estimated without bias (pass^N).
 *
 * S. Yao et al. (2024), τ-bench: a benchmark for tool-agent-user interaction in real-world domains. arXiv 2406.12045, section 3.
 */
export function passAllN(repeats: number, passes: number, drawn: number): number {
  let probability = 1;
  for (let index = 0; index < drawn; index += 1) probability *= Math.max(passes - index, 0) / (repeats - index);
  return probability;
}

/**
 * The value below which a share of the values is, between the two nearest values: type 7 of Hyndman and Fan, the default of R and
 * NumPy. Null without values.
 *
 * R. J. Hyndman, Y. Fan (1996), Sample quantiles in statistical packages. The American Statistician 50, 361-365.
 */
export function percentile(sorted: Float64Array, share: number): number | null {
  if (sorted.length === 0) return null;
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (position - below) * (high - low);
}
