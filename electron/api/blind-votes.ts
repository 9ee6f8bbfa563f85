import {
  createBlindVote,
  deleteBlindVote,
  finishBlindVote,
  listBlindVotes,
  readBlindVote,
  undoPairVote,
  updateBlindVote,
  voteOnPair,
} from '../../shared/contract/blind-votes.ts';
import type { BlindVotes } from '../comparisons/votes/create-blind-votes.ts';
import { type Handler, implement } from './api.ts';
import { fileReaderOf } from './files.ts';
import { toListQuery } from './validation.ts';

export function blindVoteHandlers(votes: BlindVotes): Handler[] {
  return [
    implement(listBlindVotes, ({ parameters, query, caller }) =>
      votes.list(parameters.id, toListQuery(query), fileReaderOf(caller)),
    ),
    implement(createBlindVote, ({ parameters, body, caller }) =>
      votes.create(parameters.id, body, fileReaderOf(caller)),
    ),
    implement(readBlindVote, ({ parameters, caller }) => votes.read(parameters.id, fileReaderOf(caller))),
    implement(updateBlindVote, ({ parameters, body, caller }) =>
      votes.setQuestion(parameters.id, body.question, fileReaderOf(caller)),
    ),
    implement(voteOnPair, ({ parameters, body, caller }) =>
      votes.vote(parameters.id, parameters.rowId, body, fileReaderOf(caller)),
    ),
    implement(undoPairVote, ({ parameters, caller }) => votes.undo(parameters.id, fileReaderOf(caller))),
    implement(finishBlindVote, ({ parameters, caller }) => votes.finish(parameters.id, fileReaderOf(caller))),
    implement(deleteBlindVote, ({ parameters }) => votes.remove(parameters.id)),
  ];
}
