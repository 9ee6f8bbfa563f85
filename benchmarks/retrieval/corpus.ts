import { createRandom, type SeededRandom } from '../support/text-writer.ts';
import gridList from './grids.json' with { type: 'json' };
import { notes } from './notes.ts';

/** A text about every subject of a domain; `{name}` is the subject, other braces are values that differ by subject. */
interface Aspect {
  readonly passage: string;
  /** Questions in other words. */
  readonly questions: readonly string[];
}

/** Subjects with the same kinds of texts: only name and aspect together identify the right passage. */
interface Grid {
  readonly title: string;
  readonly subjects: readonly string[];
  readonly values: Readonly<Record<string, readonly string[] | undefined>>;
  readonly aspects: readonly Aspect[];
}

const grids: readonly Grid[] = gridList;

/** Passages and questions, each with the passages that answer it and how well. */
export interface RetrievalSet {
  readonly passages: readonly { readonly id: string; readonly title: string | null; readonly text: string }[];
  readonly questions: readonly RetrievalQuestion[];
  /** Answers that are a part of a passage; any other answer is a whole passage. */
  readonly locations?: ReadonlyMap<string, AnswerLocation>;
}

export interface AnswerLocation {
  /** ID of the passage. */
  readonly within: string;
  readonly start: number;
  readonly end: number;
}

export interface RetrievalQuestion {
  readonly id: string;
  readonly text: string;
  /** Grade by passage; missing passages are not relevant. */
  readonly relevant: ReadonlyMap<string, number>;
  /** Why it is hard. */
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

function fillGrid({ title, subjects, values, aspects }: Grid, random: SeededRandom): Part {
  const part: Part = { passages: [], questions: [] };
  for (const name of subjects) {
    for (const [index, { passage, questions }] of aspects.entries()) {
      const id = `${title}-${name}-${index}`;
      const text = passage.replaceAll(/\{(\w+)\}/g, (_, value: string) =>
        value === 'name' ? name : random.pick(values[value]!),
      );
      part.passages.push({ id, title, text });
      const question = random.pick(questions).replaceAll('{name}', name);
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
const halls = ['Hall 3', 'the north yard', 'line B', 'the cold store', 'the paint shop', 'gate 12'];
const openings = ['What happened in', 'Summarise', 'What was the outcome of', 'Tell me about', 'What caused'];

/** The kind of questions that ask for a number. */
const numbered = 'numbers';

/** Reports that differ in little but their numbers. */
function reports(count: number, random: SeededRandom): Part {
  const part: Part = { passages: [], questions: [] };
  for (let index = 0; index < count; index += 1) {
    const id = `report-${index}`;
    const number = `${random.pick(['RX', 'QF', 'LM', 'TZ'])}-${1000 + Math.floor(random.next() * 9000)}`;
    const fault = random.pick(faults);
    const text =
      `Report ${number}: a ${fault} in ${random.pick(halls)} failed because it ${random.pick(causes)}. ` +
      `It ${random.pick(remedies)} within ${random.pick(['an hour', 'a day', 'two days', 'a week'])}.`;
    part.passages.push({ id, title: 'Reports', text });
    part.questions.push({
      id: `${id}-q`,
      text: `${random.pick(openings)} ${number}?`,
      relevant: new Map([[id, 1]]),
      kind: numbered,
    });
  }
  return part;
}

const lowerFirst = (text: string) =>
  /^(?:I|[A-Z]{2,})\b/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);

/** Every two consecutive questions as one, every other time in one sentence. */
function inTwoParts(questions: readonly RetrievalQuestion[]): RetrievalQuestion[] {
  return questions.flatMap((first, index) => {
    const second = questions[index + 1];
    if (index % 2 === 1 || !second) return [];
    const joined = `${first.text.replace(/\?$/, ',')} and ${lowerFirst(second.text)}`;
    const text = index % 4 === 0 ? `${first.text} ${second.text}` : joined;
    const relevant = new Map([...first.relevant, ...second.relevant]);
    return { id: `${first.id}+`, text, relevant, kind: `${first.kind}, two parts` };
  });
}

/** Reports that form one document. */
const reportsTogether = 20;
const passagesOfParagraph = 3;

/** The same passages as paragraphs of longer documents, which need chunking. */
function asDocuments({ passages, questions }: RetrievalSet): RetrievalSet {
  const texts = new Map<string, string[]>();
  const locations = new Map<string, AnswerLocation>();
  const titles = new Map<string, string | null>();
  for (const { id, title, text } of passages) {
    const number = /^report-(\d+)$/.exec(id)?.[1];
    const within = number === undefined ? title! : `Reports ${Math.floor(Number(number) / reportsTogether)}`;
    const before = texts.get(within) ?? [];
    const separator = before.length === 0 ? '' : before.length % passagesOfParagraph === 0 ? '\n\n' : ' ';
    const start = before.reduce((sum, part) => sum + part.length, separator.length);
    locations.set(id, { within, start, end: start + text.length });
    texts.set(within, [...before, separator + text]);
    titles.set(within, title);
  }
  const documents = [...texts].map(([id, parts]) => ({ id, title: titles.get(id)!, text: parts.join('') }));
  return { passages: documents, questions, locations };
}

export interface OwnCorpus {
  readonly set: RetrievalSet;
  /** The same questions, and their answers within longer documents. */
  readonly documents: RetrievalSet;
  /** IDs of the questions for choosing settings; no other question shares a subject with them. */
  readonly development: ReadonlySet<string>;
}

/** The corpus of this benchmark, always the same; half of the notes and grids, with their questions, are for development. */
export function ownCorpus(): OwnCorpus {
  const random = createRandom(20_261_120);
  const [notePart, reportPart] = [readNotes(), reports(60, random)];
  const gridParts = grids.map((grid) => fillGrid(grid, random));
  const parts = [notePart, reportPart, ...gridParts];
  const half = <Item>(items: readonly Item[]) => items.filter((_, index) => index % 2 === 0);
  const chosenBy = [
    half(notePart.questions),
    half(reportPart.questions),
    ...half(gridParts).map(({ questions }) => questions),
  ].flat();
  const all = parts.flatMap(({ questions }) => questions);
  const heldOut = all.filter((question) => !chosenBy.includes(question));
  const ofTwoParts = (questions: readonly RetrievalQuestion[]) =>
    inTwoParts(questions.filter(({ kind }) => kind !== numbered));
  const development = [...chosenBy, ...ofTwoParts(chosenBy)];
  const set = {
    passages: parts.flatMap(({ passages }) => passages),
    questions: [...all, ...ofTwoParts(chosenBy), ...ofTwoParts(heldOut)],
  };
  return { set, documents: asDocuments(set), development: new Set(development.map(({ id }) => id)) };
}
