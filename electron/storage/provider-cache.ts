import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { CapabilityTest } from '../../shared/contract/capability-tests.ts';
import type { ProviderTest } from '../../shared/contract/providers.ts';
import type { ListedModel } from '../providers/provider.ts';
import { type Metadata, prepareQuery } from './queries.ts';
import type { CapabilityTestStore, ProviderCache } from './storage.ts';

interface CachedProvider {
  baseAddress: string | null;
  lastTest: ProviderTest | null;
  listedModels: ListedModel[] | null;
}

const uncached: CachedProvider = { baseAddress: null, lastTest: null, listedModels: null };

/** The models that people added by hand. */
function createUserModels(
  queries: ReturnType<typeof providerQueries>,
): Pick<ProviderCache, 'userModels' | 'addUserModel' | 'removeUserModel'> {
  let userModels = queries.userModels
    .all({})
    .map(({ ai_system, model }) => ({ aiSystem: ai_system as AiSystem, model }));
  const isModel = (aiSystem: AiSystem, model: string) => (known: { aiSystem: AiSystem; model: string }) =>
    known.aiSystem === aiSystem && known.model === model;

  return {
    userModels: () => userModels,
    addUserModel(aiSystem, model) {
      if (userModels.some(isModel(aiSystem, model))) return;
      queries.insertUserModel.run({ ai_system: aiSystem, model });
      userModels = [...userModels, { aiSystem, model }];
    },
    removeUserModel(aiSystem, model) {
      queries.removeUserModel.run({ ai_system: aiSystem, model });
      userModels = userModels.filter((known) => !isModel(aiSystem, model)(known));
    },
  };
}

/** Every run reads it, so all of it is in memory. Changes are written to the database first. */
export function createProviderCache(database: Database.Database): ProviderCache {
  const queries = providerQueries(database);
  const providers = new Map(queries.providers.all({}).map((row) => [row.account, toCachedProvider(row)]));
  let endpoints = queries.endpoints.all({});

  function change(name: string, part: Partial<CachedProvider>): void {
    const next = { ...(providers.get(name) ?? uncached), ...part };
    queries.saveProvider.run({
      account: name,
      base_address: next.baseAddress,
      last_test_json: next.lastTest && JSON.stringify(next.lastTest),
      listed_models_json: next.listedModels && JSON.stringify(next.listedModels),
    });
    providers.set(name, next);
  }

  const isNamed = (name: string) => (endpoint: { name: string }) => endpoint.name.toLowerCase() === name.toLowerCase();
  return {
    baseAddress: (providerId) => providers.get(providerId)?.baseAddress ?? null,
    setBaseAddress: (providerId, baseAddress) => change(providerId, { baseAddress }),
    lastTest: (providerId) => providers.get(providerId)?.lastTest ?? null,
    setLastTest: (providerId, lastTest) => change(providerId, { lastTest }),
    listedModels: (providerId) => providers.get(providerId)?.listedModels ?? null,
    setListedModels: (providerId, listedModels) => change(providerId, { listedModels }),
    endpoints: () => endpoints,
    addEndpoint({ name, baseAddress }) {
      if (endpoints.some(isNamed(name)))
        throw new AppError('conflict', `An endpoint named "${name}" already exists. Choose another name.`);
      queries.insertEndpoint.run({ name, base_address: baseAddress });
      endpoints = [...endpoints, { name, baseAddress }];
    },
    setEndpointAddress(name, baseAddress) {
      const present = endpoints.find(isNamed(name));
      if (!present) throw new AppError('not_found', `No endpoint is named "${name}".`);
      queries.setEndpointAddress.run({ name, base_address: baseAddress });
      endpoints = endpoints.map((endpoint) => (endpoint === present ? { ...endpoint, baseAddress } : endpoint));
    },
    removeEndpoint(name) {
      const present = endpoints.find(isNamed(name));
      if (!present) return;
      queries.removeEndpoint.run({ name });
      // A later endpoint of the same name must not get this data.
      queries.removeProvider.run({ account: `endpoint:${present.name}` });
      providers.delete(`endpoint:${present.name}`);
      endpoints = endpoints.filter((endpoint) => endpoint !== present);
    },
    ...createUserModels(queries),
  };
}

/** All tests in one value: there are as many as providers. */
export function createCapabilityTestStore(metadata: Metadata): CapabilityTestStore {
  return {
    read: () => JSON.parse(metadata.read('capability_tests') ?? '[]') as CapabilityTest[],
    write: (tests) => metadata.write('capability_tests', JSON.stringify(tests)),
  };
}

interface ProviderRow {
  account: string;
  base_address: string | null;
  last_test_json: string | null;
  listed_models_json: string | null;
}

function toCachedProvider(row: ProviderRow): CachedProvider {
  return {
    baseAddress: row.base_address,
    lastTest: row.last_test_json === null ? null : (JSON.parse(row.last_test_json) as ProviderTest),
    listedModels: row.listed_models_json === null ? null : (JSON.parse(row.listed_models_json) as ListedModel[]),
  };
}

function providerQueries(database: Database.Database) {
  return {
    providers: prepareQuery(database, (tables) => tables.selectFrom('provider_accounts').selectAll()),
    saveProvider: prepareQuery(database, (tables, input: ProviderRow) => {
      const rest = {
        base_address: input.base_address,
        last_test_json: input.last_test_json,
        listed_models_json: input.listed_models_json,
      };
      return tables
        .insertInto('provider_accounts')
        .values({ account: input.account, ...rest })
        .onConflict((conflict) => conflict.column('account').doUpdateSet(rest));
    }),
    removeProvider: prepareQuery(database, (tables, input: { account: string }) =>
      tables.deleteFrom('provider_accounts').where('account', '=', input.account),
    ),
    endpoints: prepareQuery(database, (tables) =>
      tables.selectFrom('compatible_endpoints').select(['name', 'base_address as baseAddress']).orderBy('name'),
    ),
    insertEndpoint: prepareQuery(database, (tables, input: { name: string; base_address: string }) =>
      tables.insertInto('compatible_endpoints').values({ name: input.name, base_address: input.base_address }),
    ),
    setEndpointAddress: prepareQuery(database, (tables, input: { name: string; base_address: string }) =>
      tables
        .updateTable('compatible_endpoints')
        .set({ base_address: input.base_address })
        .where('name', '=', input.name),
    ),
    removeEndpoint: prepareQuery(database, (tables, input: { name: string }) =>
      tables.deleteFrom('compatible_endpoints').where('name', '=', input.name),
    ),
    userModels: prepareQuery(database, (tables) => tables.selectFrom('user_models').selectAll()),
    insertUserModel: prepareQuery(database, (tables, input: { ai_system: string; model: string }) =>
      tables.insertInto('user_models').values({ ai_system: input.ai_system, model: input.model }),
    ),
    removeUserModel: prepareQuery(database, (tables, input: { ai_system: string; model: string }) =>
      tables.deleteFrom('user_models').where('ai_system', '=', input.ai_system).where('model', '=', input.model),
    ),
  };
}
