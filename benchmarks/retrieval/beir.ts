import { createReadStream, globSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { RetrievalSet } from './corpus.ts';

const passageLine = z.object({ _id: z.coerce.string(), title: z.string().nullish(), text: z.string() });
const questionLine = z.object({ _id: z.coerce.string(), text: z.string() });

function lines(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
}

async function readObjects<Value>(file: string, schema: z.ZodType<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for await (const line of lines(file)) if (line.trim() !== '') values.push(schema.parse(JSON.parse(line)));
  return values;
}

/** Grades by query and passage; the first line of a file contains the names of the columns. */
async function readGrades(files: readonly string[]): Promise<Map<string, Map<string, number>>> {
  const grades = new Map<string, Map<string, number>>();
  for (const file of files) {
    for await (const line of lines(file)) {
      const [question, passage, grade] = line.split('\t');
      if (question === undefined || passage === undefined || grade === undefined || Number.isNaN(Number(grade)))
        continue;
      const ofQuestion = grades.get(question) ?? new Map<string, number>();
      grades.set(question, ofQuestion.set(passage, Number(grade)));
    }
  }
  return grades;
}

/** Reads a folder of the BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv` (only `test.tsv` if there is one). */
export async function readBeir(directory: string): Promise<RetrievalSet> {
  const passages = await readObjects(join(directory, 'corpus.jsonl'), passageLine);
  const questions = await readObjects(join(directory, 'queries.jsonl'), questionLine);
  const files = globSync('qrels/*.tsv', { cwd: directory }).toSorted();
  const judged = files.some((file) => file.endsWith('test.tsv'))
    ? files.filter((file) => file.endsWith('test.tsv'))
    : files;
  const grades = await readGrades(judged.map((file) => join(directory, file)));
  return {
    passages: passages.map(({ _id, title, text }) => ({ id: _id, title: title || null, text })),
    questions: questions.flatMap(({ _id, text }) => {
      const relevant = grades.get(_id);
      return relevant ? [{ id: _id, text, relevant, kind: 'judged' }] : [];
    }),
  };
}
