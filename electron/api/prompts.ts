import {
  createPrompt,
  createPromptVersion,
  deletePrompt,
  listPrompts,
  listPromptVersions,
  readPrompt,
  readPromptVersion,
  runPrompt,
  updatePrompt,
} from '../../shared/contract/prompts.ts';
import type { Prompts } from '../prompts/create-prompts.ts';
import { implement, type Handler } from './handler.ts';
import { toListQuery } from './list-query.ts';
import { originOf, toMessageAnswer, wholeRunAnswer, type ReportFailure } from './run-answer.ts';

export function promptHandlers(prompts: Prompts, reportFailure: ReportFailure): Handler[] {
  return [
    // Before the address with an id, which would take `run` for one.
    implement(runPrompt, async (input) => {
      const accepted = await prompts.run(input.body, originOf(input), { signal: input.signal });
      return wholeRunAnswer(accepted, input, toMessageAnswer, reportFailure);
    }),
    implement(listPrompts, ({ query }) => prompts.list(toListQuery(query))),
    implement(createPrompt, ({ body }) => prompts.create(body)),
    implement(readPrompt, ({ parameters }) => prompts.read(parameters.id)),
    implement(updatePrompt, ({ parameters, body }) => prompts.update(parameters.id, body)),
    implement(deletePrompt, ({ parameters }) => prompts.remove(parameters.id)),
    implement(listPromptVersions, ({ parameters, query }) => prompts.listVersions(parameters.id, toListQuery(query))),
    implement(createPromptVersion, ({ parameters, body }) => prompts.addVersion(parameters.id, body)),
    implement(readPromptVersion, ({ parameters }) => prompts.readVersion(parameters.id, parameters.versionId)),
  ];
}
