/**
 * English words that say nothing about what a passage is about, also as they stand before an apostrophe; a question that has
 * no others is searched for these.
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could did do
  does doing done down during each few for from further get give had has have having he her here hers him his how i if in into is it
  its itself just let like many me more most much must my no nor not now of off on once only or other our ours out over own please same
  shall she should show so some such tell than that the their theirs them then there these they this those through to too under until
  up us very was we were what when where which while who whom whose why will with would you your yours
  aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
