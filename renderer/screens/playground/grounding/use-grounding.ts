import { useEffect, useMemo, useState } from 'react';
import type { GroundedRequest } from '../../../../shared/contract/grounding.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { useGroundingPreview } from '../../../queries/grounding.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { readChoice, readRequest } from '../session/run-request.ts';

/** A value once it has not changed for a while: what costs the host a search does not follow every key. */
function useSettled<Value>(value: Value, milliseconds: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

/** How long one stops typing before the passages are looked for again, in milliseconds. */
const pause = 400;

/** The grounded request of a draft; null for one that cannot be run yet or is grounded on nothing. */
export function groundedRequest(draft: Draft, model: Model | null): GroundedRequest | null {
  const read = readRequest(draft, model);
  if ('blocker' in read || !read.request.dataspaceIds) return null;
  const choice = readChoice(draft);
  return { ...read.request, ...(choice && { grounding: choice }) };
}

/** The passages that a run of the draft would be given now, as far as it could be run. */
export function useGrounding(draft: Draft, model: Model | null, isShown: boolean) {
  const settled = useSettled(draft, pause);
  const request = useMemo(() => (isShown ? groundedRequest(settled, model) : null), [settled, model, isShown]);
  const preview = useGroundingPreview(request);
  return { preview, hasRequest: request !== null, isSettling: settled !== draft };
}
