import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import { ownModelKind } from '../passthrough/own-call.ts';
import type { ListPage, ListQuery } from '../storage/list-page.ts';
import type { Storage } from '../storage/storage.ts';
import type { Caller } from './api.ts';

/** A model of Touchstone's own in OpenAI's format. */
interface OwnModel {
  readonly id: string;
  readonly object: 'model';
  /** Seconds since 1970. */
  readonly created: number;
  readonly owned_by: 'touchstone';
}

interface Named {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Prompts and agents that are listed, the newest ones. */
const maxListed = 1000;

const modelOf = (id: string, created = 0): OwnModel => ({ id, object: 'model', created, owned_by: 'touchstone' });

/** By its name, or by its id if another one has the name, or if the name looks like one with a label. */
async function namedModels(kind: 'prompt' | 'agent', list: (query: ListQuery) => ListPage<Named>): Promise<OwnModel[]> {
  const items: Named[] = [];
  let continuationToken: string | null = null;
  do {
    const page: ListPage<Named> = list({ pageSize: 100, continuationToken });
    items.push(...page.data);
    ({ continuationToken } = page);
    await nextTurn();
  } while (continuationToken !== null && items.length < maxListed);
  const counts = new Map<string, number>();
  for (const { name } of items) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return items.map(({ id, name, createdAt }) => {
    const isClear = counts.get(name.toLowerCase()) === 1 && !name.includes('@');
    return modelOf(`${kind}/${isClear ? name : id}`, Math.floor(Date.parse(createdAt) / 1000));
  });
}

/** The models that a caller can call. Without the scope `manage`, it doesn't see the names of prompts and agents. */
export async function ownModels(
  { scopes }: Caller,
  { prompts, agents, settings }: Pick<Storage, 'prompts' | 'agents' | 'settings'>,
): Promise<{ readonly object: 'list'; readonly data: readonly OwnModel[] }> {
  const { serviceRoutes } = settings.read();
  const isOnDevice = serviceModels.some((name) => serviceRoutes[name].kind === 'on-device');
  const data = serviceModels.map((name) => modelOf(`service/${name}`));
  if (isOnDevice) data.push(modelOf('on-device/default'));
  if (!scopes.includes('manage')) return { object: 'list', data };
  const filter = { search: null, isOnlyDetails: true, folder: null, tags: [] };
  data.push(...(await namedModels('prompt', (query) => prompts.list({ ...query, filter }))));
  data.push(...(await namedModels('agent', (query) => agents.list(query))));
  return { object: 'list', data };
}

/** One of them; null for a model of the provider. Throws 404 for an unknown one of Touchstone's. */
export async function ownModel(
  name: string,
  caller: Caller,
  storage: Pick<Storage, 'prompts' | 'agents' | 'settings'>,
): Promise<OwnModel | null> {
  const kind = ownModelKind(name);
  if (kind === null) return null;
  const label = kind === 'prompt' ? name.lastIndexOf('@') : -1;
  const model = (label === -1 ? name : name.slice(0, label)).toLowerCase();
  const { data } = await ownModels(caller, storage);
  const found = data.find(({ id }) => id.toLowerCase() === model);
  if (found) return { ...found, id: name };
  throw new AppError('not_found', `There is no model "${name.slice(0, 200)}" that this API key can list.`);
}
