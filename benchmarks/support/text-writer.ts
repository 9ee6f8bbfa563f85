/** Seeded random numbers. */
export interface SeededRandom {
  /** From 0 to below 1. */
  next(): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** mulberry32: small, fast and good enough for texts. */
export function createRandom(seed: number): SeededRandom {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, pick: (items) => items[Math.floor(next() * items.length)]! };
}

const vocabularySize = 60_000;
const drawnWords = 1 << 20;
const syllables =
  'ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo vu'.split(
    ' ',
  );

const frequentWords =
  'the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some could time these two may then do first any my now such like our over man me even most made after also did many before must through back years where much your way well down should because each just those people how too little state good very make world still own see men work long get here between both life being under never day same another know while last might us great old year off come since against go came right used take three states himself few house use during without again place around however home small found thought went say part once general high upon school every'.split(
    ' ',
  );

/** The word of a rank, a different one for each; frequent words are short. */
export function wordOfRank(rank: number): string {
  const frequent = frequentWords[rank];
  if (frequent !== undefined) return frequent;
  let word = '';
  for (let rest = rank + 60; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length];
  return word;
}

const templates = [
  [
    'Summarise the following {{kind}} for {{audience}} in three sentences:\n{{{text}}}',
    'You write short, plain summaries.',
  ],
  ['Answer the customer below as {{tone}} as you can.\n\n{{{text}}}', 'You work for a support desk. Stay polite.'],
  ['Extract all names, dates and amounts from this {{kind}} as JSON.\n{{{text}}}', 'Answer with JSON only.'],
  ['Translate the text into {{language}}, keeping names as they are:\n{{{text}}}', null],
  ['Which risks do you see in this {{kind}}? Name the passage for each.\n{{{text}}}', 'You are a careful lawyer.'],
  ['Write a {{tone}} reply to {{audience}} about:\n{{{text}}}', 'You write business letters.'],
] as const;
const values: Readonly<Record<string, readonly string[]>> = {
  kind: ['contract', 'report', 'invoice', 'letter', 'ticket', 'transcript'],
  audience: ['managers', 'engineers', 'a child', 'the board', 'a new customer'],
  tone: ['friendly', 'formal', 'brief', 'warm'],
  language: ['French', 'German', 'Spanish', 'Japanese', 'Polish'],
};

/** Texts with the word frequencies of a language (Zipf). */
export function createWriter(random: SeededRandom) {
  const shares = new Float64Array(vocabularySize);
  let sum = 0;
  for (let rank = 0; rank < vocabularySize; rank += 1) shares[rank] = sum += 1 / (rank + 12);
  const words = Array.from({ length: vocabularySize }, (_, rank) => wordOfRank(rank));
  const drawn = Array.from({ length: drawnWords }, () => words[rankAt(shares, random.next() * sum)]!);

  function sentences(count: number): string {
    let text = '';
    for (let sentence = 0; sentence < count; sentence += 1) {
      const length = 6 + Math.floor(random.next() * 9);
      const start = Math.floor(random.next() * (drawnWords - length));
      text += `${sentence === 0 ? '' : ' '}${drawn.slice(start, start + length).join(' ')}.`;
    }
    return text;
  }

  return {
    prompt() {
      const [promptText, systemMessage] = random.pick(templates);
      const names = [...promptText.matchAll(/\{\{(\w+)\}\}/g)]
        .map((match) => match[1]!)
        .filter((name) => name !== 'text');
      const replacements: Record<string, string> = Object.fromEntries(
        names.map((name) => [name, random.pick(values[name]!)]),
      );
      replacements['text'] = sentences(6 + Math.floor(random.next() * 4));
      const renderedPrompt = promptText.replaceAll(/\{{2,3}(\w+)\}{2,3}/g, (_, name: string) => replacements[name]!);
      return {
        promptText,
        systemMessage,
        replacements: { ...replacements, text: replacements['text'].slice(0, 40) },
        renderedPrompt,
      };
    },
    answer: () => sentences(6 + Math.floor(random.next() * 8)),
    remark: () => sentences(1),
  };
}

/** First index whose running sum is above the value. */
function rankAt(sums: Float64Array, value: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
