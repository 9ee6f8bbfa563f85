import type { Prompts } from '../create-prompts.ts';

/** The same prompts, which tell whenever one was made, changed or deleted. */
export function noticeChanges(prompts: Prompts, onChange: () => void): Prompts {
  const noticed = <Result>(result: Result): Result => {
    onChange();
    return result;
  };
  return {
    ...prompts,
    create: (input) => noticed(prompts.create(input)),
    createAll: (inputs, options) => noticed(prompts.createAll(inputs, options)),
    addVersion: (id, input) => noticed(prompts.addVersion(id, input)),
    update: (id, change) => noticed(prompts.update(id, change)),
    remove: (id) => noticed(prompts.remove(id)),
  };
}
