import { normalMargin, normalQuantile } from './distributions.ts';

/** How likely a difference is found with the rows needed. */
const power = 0.8;

function roundUp(rows: number): number | null {
  return Number.isFinite(rows) ? Math.ceil(rows) : null;
}

/**
 * About how many rows would tell two pass rates apart, if the difference and the share of rows that only one of them passes stay as they
 * are. Null for a difference of 0.
 *
 * O. S. Miettinen (1968), The matched pairs design in the case of all-or-none responses. Biometrics 24, 339-352, in the form of
 * R. J. Connor (1987), Sample size for testing differences in proportions for the paired-sample design. Biometrics 43, 207-211.
 */
export function rowsForRates(difference: number, discordantShare: number, confidence: number): number | null {
  const spread = Math.max(discordantShare, Math.abs(difference));
  const root =
    normalMargin(confidence) * Math.sqrt(spread) + normalQuantile(power) * Math.sqrt(spread - difference ** 2);
  return roundUp((root / difference) ** 2);
}

/**
 * About how many rows would tell two means apart, if the difference and its standard deviation between rows stay as they are. Null for a
 * difference of 0.
 *
 * G. W. Snedecor, W. G. Cochran (1989), Statistical Methods, 8th edition, section 6.14.
 */
export function rowsForMeans(difference: number, standardDeviation: number, confidence: number): number | null {
  return roundUp((((normalMargin(confidence) + normalQuantile(power)) * standardDeviation) / difference) ** 2);
}
