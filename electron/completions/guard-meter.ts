import type { GuardFinding } from '../../shared/contract/guard.ts';

/** What the checks of one side took; milliseconds, over the newest 1,000 runs. */
export interface GuardCost {
  readonly checked: number;
  readonly flagged: number;
  readonly refused: number;
  /** Null before the first check. */
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface GuardCosts {
  readonly prompts: GuardCost;
  readonly answers: GuardCost;
}

const mostKept = 1000;

class SideMeter {
  readonly #durations: number[] = [];
  #checked = 0;
  #flagged = 0;
  #refused = 0;

  note({ milliseconds, categories }: GuardFinding, isRefused: boolean): void {
    this.#durations[this.#checked % mostKept] = milliseconds;
    this.#checked += 1;
    if (categories.length > 0) this.#flagged += 1;
    if (isRefused) this.#refused += 1;
  }

  cost(): GuardCost {
    const sorted = this.#durations.toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? null;
    return { checked: this.#checked, flagged: this.#flagged, refused: this.#refused, p50: at(0.5), p95: at(0.95) };
  }
}

/** Counts what the guard does in this start of the host. */
export function createGuardMeter() {
  const sides = { prompts: new SideMeter(), answers: new SideMeter() };
  return {
    note: (side: keyof typeof sides, finding: GuardFinding, isRefused: boolean) => sides[side].note(finding, isRefused),
    costs: (): GuardCosts => ({ prompts: sides.prompts.cost(), answers: sides.answers.cost() }),
  };
}
