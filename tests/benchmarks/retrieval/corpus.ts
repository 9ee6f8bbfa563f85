import { createChance, type Chance } from '../support/text-writer.ts';
import { grids, type Grid } from './grids.ts';
import { notes } from './notes.ts';

/** Passages and questions, each with the passages that answer it and how well. */
export interface RetrievalSet {
  readonly passages: readonly { readonly id: string; readonly title: string | null; readonly text: string }[];
  readonly questions: readonly RetrievalQuestion[];
}

export interface RetrievalQuestion {
  readonly id: string;
  readonly text: string;
  /** Grade by passage; what is not in it is not relevant. */
  readonly relevant: ReadonlyMap<string, number>;
  /** What makes it hard. */
  readonly kind: string;
}

interface Part {
  readonly passages: { id: string; title: string | null; text: string }[];
  readonly questions: RetrievalQuestion[];
}

function readNotes(): Part {
  const part: Part = { passages: [], questions: [] };
  for (const [index, line] of notes.trim().split('\n').entries()) {
    const [, title, text, question] = /^(\w+): (.*?) \? (.*)$/.exec(line)!;
    const id = `note-${index}`;
    part.passages.push({ id, title: title!, text: text! });
    part.questions.push({ id: `${id}-q`, text: question!, relevant: new Map([[id, 1]]), kind: 'other words' });
  }
  return part;
}

function fillGrid({ title, subjects, values, aspects }: Grid, chance: Chance): Part {
  const part: Part = { passages: [], questions: [] };
  for (const name of subjects) {
    for (const [index, { passage, questions }] of aspects.entries()) {
      const id = `${title}-${name}-${index}`;
      const text = passage.replaceAll(/\{(\w+)\}/g, (_, value: string) =>
        value === 'name' ? name : chance.pick(values[value]!),
      );
      part.passages.push({ id, title, text });
      const question = chance.pick(questions).replaceAll('{name}', name);
      part.questions.push({
        id: `${id}-q`,
        text: question,
        relevant: new Map([[id, 1]]),
        kind: 'name and other words',
      });
    }
  }
  return part;
}

const faults = [
  'shaft',
  'valve',
  'sensor',
  'gasket',
  'display',
  'hinge',
  'pump',
  'fuse',
  'relay',
  'fan',
  'belt',
  'nozzle',
];
const causes = [
  'was worn',
  'had come loose',
  'was fitted the wrong way round',
  'had rusted',
  'was too hot',
  'was missing',
];
const remedies = [
  'was replaced',
  'was tightened',
  'was turned',
  'was cleaned and oiled',
  'was cooled',
  'was ordered and fitted',
];
const places = ['Hall 3', 'the north yard', 'line B', 'the cold store', 'the paint shop', 'gate 12'];
const openings = ['What happened in', 'Summarise', 'What was the outcome of', 'Tell me about', 'What caused'];

/** Reports that differ in little but their numbers. */
function reports(count: number, chance: Chance): Part {
  const part: Part = { passages: [], questions: [] };
  for (let index = 0; index < count; index += 1) {
    const id = `report-${index}`;
    const number = `${chance.pick(['RX', 'QF', 'LM', 'TZ'])}-${1000 + Math.floor(chance.next() * 9000)}`;
    const fault = chance.pick(faults);
    const text =
      `Report ${number}: a ${fault} in ${chance.pick(places)} failed because it ${chance.pick(causes)}. ` +
      `It ${chance.pick(remedies)} within ${chance.pick(['an hour', 'a day', 'two days', 'a week'])}.`;
    part.passages.push({ id, title: 'Reports', text });
    part.questions.push({
      id: `${id}-q`,
      text: `${chance.pick(openings)} ${number}?`,
      relevant: new Map([[id, 1]]),
      kind: 'numbers',
    });
  }
  return part;
}

export interface OwnCorpus {
  readonly set: RetrievalSet;
  /** Ids of the questions that settings may be chosen by; no other question shares a subject with them. */
  readonly development: ReadonlySet<string>;
}

/** The corpus of this benchmark, the same each time; half of the notes and grids, with all that is asked of them, are for development. */
export function ownCorpus(): OwnCorpus {
  const chance = createChance(20_261_120);
  const [notePart, reportPart] = [readNotes(), reports(60, chance)];
  const gridParts = grids.map((grid) => fillGrid(grid, chance));
  const parts = [notePart, reportPart, ...gridParts];
  const half = <Item>(items: readonly Item[]) => items.filter((_, index) => index % 2 === 0);
  const development = [
    half(notePart.questions),
    half(reportPart.questions),
    ...half(gridParts).map(({ questions }) => questions),
  ];
  return {
    set: {
      passages: parts.flatMap(({ passages }) => passages),
      questions: parts.flatMap(({ questions }) => questions),
    },
    development: new Set(development.flat().map(({ id }) => id)),
  };
}
