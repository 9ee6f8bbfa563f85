import {
  followPromptFolders,
  linkPromptFolder,
  listPromptFolders,
  readFolderFile,
  readPromptFolder,
  settleFolderFile,
  unlinkPromptFolder,
} from '../../shared/contract/prompt-folders.ts';
import type { Log } from '../log.ts';
import type { PromptFolders } from '../prompts/folder/create-prompt-folders.ts';
import { followAnswer } from './follow-answer.ts';
import { followList } from './follow-list.ts';
import { implement, type Handler } from './handler.ts';

export function promptFolderHandlers(folders: PromptFolders, reportFailure: Log): Handler[] {
  return [
    implement(listPromptFolders, () => ({ data: folders.list() })),
    implement(followPromptFolders, (input) =>
      followAnswer(input, (signal) => followList(folders, signal), reportFailure),
    ),
    implement(linkPromptFolder, ({ body, signal }) => folders.link(body.path, body.folder ?? null, { signal })),
    implement(unlinkPromptFolder, ({ parameters }) => folders.unlink(parameters.id)),
    implement(readPromptFolder, ({ parameters }) => folders.look(parameters.id)),
    implement(readFolderFile, ({ parameters, body, signal }) => folders.readFile(parameters.id, body.path, { signal })),
    implement(settleFolderFile, ({ parameters, body, signal }) => folders.settle(parameters.id, body, { signal })),
  ];
}
