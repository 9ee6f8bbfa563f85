import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { LLMock } from '@copilotkit/aimock';
import { format, resolveConfig } from 'prettier';
import { capabilityChecks, type CapabilityCheck } from '../../electron/capabilities/checks.ts';
import { type CheckProviders, planCheck, runCheck } from '../../electron/capabilities/run-check.ts';
import { heronPdf, redImage } from '../../electron/capabilities/checks.ts';
import { collectAnswer } from '../../electron/on-device/create-language-models.ts';
import { catalogue } from '../../electron/providers/catalogue.ts';
import { combineMetadata, filterConfiguration } from '../../electron/providers/model-metadata.ts';
import { costOf } from '../../electron/providers/model-prices.ts';
import type { RuleSet } from '../../electron/providers/parameter-rules.ts';
import type { CatalogueEntry } from '../../electron/providers/provider-details.ts';
import type { ModelPart, Provider } from '../../electron/providers/provider.ts';
import { createEndpointProvider, registry } from '../../electron/providers/registry.ts';
import { AppError } from '../../shared/app-error.ts';
import { capabilities, capabilityNames, type CapabilityResult } from '../../shared/contract/capability-tests.ts';
import { keyedProviders } from '../../shared/contract/common.ts';
import { providerName } from '../../shared/provider-names.ts';
import { createTransport, noAbort } from './provider-calls.ts';

const fixtures = new URL('../fixtures/providers/', import.meta.url);
const root = new URL('../../', import.meta.url);
/** The generated file. */
export const tableFile = new URL('docs/conformance.md', root);
/** Answers of the real on-device model, by check. */
export const onDeviceFile = new URL('on-device-checks.json', fixtures);

type OnDeviceAnswers = Readonly<Record<string, readonly ModelPart[]>>;

const columns: readonly { readonly ruleSet: RuleSet; readonly file: string; readonly path: string }[] = [
  { ruleSet: 'OpenAi', file: 'open-ai', path: '/v1' },
  { ruleSet: 'Anthropic', file: 'anthropic', path: '/v1' },
  { ruleSet: 'GoogleGemini', file: 'google-gemini', path: '/v1beta' },
  { ruleSet: 'Groq', file: 'groq', path: '/v1' },
  { ruleSet: 'Cohere', file: 'cohere', path: '/v2' },
  { ruleSet: 'OpenAiCompatible', file: 'open-ai-compatible', path: '/v1' },
  { ruleSet: 'on-device', file: '', path: '' },
];

const calls = (...cities: string[]) => ({
  toolCalls: cities.map((city) => ({ name: 'weather', arguments: JSON.stringify({ city }) })),
});

/**
 * How a check is answered: by a recorded response, or as the stand-in writes it for each API. A request without what the check is about
 * gets a 400, so a parameter or a file that Touchstone doesn't send is a "no".
 */
const answers: Readonly<
  Record<string, { readonly needs: RegExp | string; readonly scripted?: Parameters<LLMock['onMessage']>[1] }>
> = {
  text: { needs: 'Reply with one word' },
  reasoning: { needs: /effort|thinking/i },
  stop: { needs: /\[\s*"5"\s*\]/, scripted: { content: '1 2 3 4 ' } },
  schema: { needs: /"population":\s*\{\s*"type"/, scripted: { content: '{"city":"Paris","population":2100000}' } },
  tool: { needs: '"weather"', scripted: calls('Paris') },
  'parallel-tools': { needs: '"weather"', scripted: calls('Paris', 'Rome') },
  'streamed-tools': { needs: '"weather"', scripted: calls('Rome') },
  images: { needs: redImage, scripted: { content: 'Red' } },
  pdf: { needs: heronPdf, scripted: { content: 'Heron' } },
};

const checkProviders: CheckProviders = {
  applicableConfiguration: ({ metadata }, configuration) => filterConfiguration(metadata, configuration),
  cost: ({ metadata }, usage, rawUsage) => costOf(metadata.prices, usage, rawUsage),
};

/** Plays the recorded and scripted responses of the current check. */
async function startStandIn() {
  const mock = new LLMock({ port: 0, chunkSize: 7 });
  await mock.start();
  for (const { id, messages } of capabilityChecks) {
    const { scripted } = answers[id]!;
    const part = messages[0]!.content.find(({ type }) => type === 'text');
    if (scripted && part?.type === 'text') mock.onMessage(part.text, scripted);
  }
  let current = { file: '', check: capabilityChecks[0]! };
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readText(request);
      const { needs, scripted } = answers[current.check.id]!;
      if (typeof needs === 'string' ? !body.includes(needs) : !needs.test(body)) {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'The request lacks what the check is about.' } }));
        return;
      }
      const isStream = current.check.isStreamed;
      if (!scripted) {
        response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
        response.end(readFileSync(new URL(`${current.file}.${isStream ? 'sse' : 'json'}`, fixtures)));
        return;
      }
      const headers = { 'content-type': 'application/json', authorization: 'Bearer key', 'x-api-key': 'key' };
      const forwarded = await fetch(mock.url + request.url!, { method: 'POST', headers, body });
      response.writeHead(forwarded.status, { 'content-type': forwarded.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await forwarded.arrayBuffer()));
    })().catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play(file: string, check: CapabilityCheck) {
      current = { file, check };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await mock.stop();
    },
  };
}

/** Repeats what the real on-device model answered to each check. */
function replayedModel(recorded: OnDeviceAnswers, checkOf: () => CapabilityCheck): Provider {
  async function* stream(): AsyncGenerator<ModelPart> {
    const parts = recorded[checkOf().id];
    if (!parts) throw new AppError('provider_failed', 'The answer of the on-device model is not recorded yet.');
    yield* parts;
  }
  return {
    stream,
    generate: () => collectAnswer(stream()),
    listModels: () => Promise.resolve([]),
  };
}

/** The models of a provider, and null for one that isn't in the catalogue. */
function entriesOf(ruleSet: RuleSet): readonly (CatalogueEntry | null)[] {
  const keyed = keyedProviders.find((name) => name === ruleSet);
  return keyed ? [...catalogue[keyed].values()].filter(({ hasEnded }) => !hasEnded) : [null];
}

export interface ConformanceColumn {
  readonly title: string;
  readonly results: readonly CapabilityResult[];
}

/** Runs every check against the recorded and scripted responses of every provider. */
export async function runConformance(
  recorded: OnDeviceAnswers = JSON.parse(readFileSync(onDeviceFile, 'utf8')) as OnDeviceAnswers,
): Promise<ConformanceColumn[]> {
  const standIn = await startStandIn();
  const transport = createTransport();
  try {
    const found: ConformanceColumn[] = [];
    for (const { ruleSet, file, path } of columns) {
      let check = capabilityChecks[0]!;
      const title = ruleSet === 'on-device' ? 'On device' : providerName(ruleSet);
      const settings = { title, baseAddress: standIn.address + path, key: 'key-0123456789', transport };
      const provider =
        ruleSet === 'on-device'
          ? replayedModel(recorded, () => check)
          : ruleSet === 'OpenAiCompatible'
            ? createEndpointProvider(settings)
            : registry[ruleSet].create(settings);
      const results: CapabilityResult[] = [];
      for (check of capabilityChecks) {
        standIn.play(file, check);
        const plans = entriesOf(ruleSet).map((entry) => {
          const model = entry?.name ?? 'model';
          const metadata = combineMetadata(
            ruleSet,
            ruleSet === 'on-device' ? 'the on-device model' : model,
            entry,
            null,
          );
          const target = { provider, model, servedBy: '', catalogueEntry: entry, metadata };
          return { target, planned: planCheck(check, target, checkProviders) };
        });
        // Some models of a provider have it: the first that does.
        const { planned, target } = plans.find((plan) => 'request' in plan.planned) ?? plans[0]!;
        results.push(...(await runCheck(planned, target, checkProviders, noAbort())).results);
      }
      found.push({ title, results });
    }
    return found;
  } finally {
    await transport.close();
    await standIn.close();
  }
}

const words = { yes: 'yes', no: '**no**', 'not-offered': 'not offered' } as const;

/** The text of docs/conformance.md. */
export async function writeConformance(found: readonly ConformanceColumn[]): Promise<string> {
  const notes: string[] = [];
  const cell = ({ results }: ConformanceColumn, capability: CapabilityResult['capability']): string => {
    const result = results.find((each) => each.capability === capability);
    if (!result) throw new Error(`No check is about ${capability}`);
    if (result.reason === null) return words[result.outcome];
    if (!notes.includes(result.reason)) notes.push(result.reason);
    return `${words[result.outcome]} (${notes.indexOf(result.reason) + 1})`;
  };
  const rows = capabilities.map((capability) => {
    const check = capabilityChecks.find(({ expectations }) =>
      expectations.some((expectation) => expectation.capability === capability),
    );
    const source = answers[check!.id]!.scripted ? 'scripted' : 'recorded';
    return [capabilityNames[capability], source, ...found.map((column) => cell(column, capability))];
  });
  const table = [
    ['', 'Response', ...found.map(({ title }) => title)],
    Array.from({ length: found.length + 2 }, () => '---'),
    ...rows,
  ].map((cells) => `| ${cells.join(' | ')} |`);
  const text = `# What each provider can do

\`npm run tool -- conformance\` writes this file, and a test checks that it is current. It runs the checks of
\`electron/capabilities/checks.ts\` against responses that are recorded (\`tests/fixtures/providers\`) or scripted (\`@copilotkit/aimock\`
writes them as each API does, if the request has what the check is about). The answers of the on-device model are recorded from the
default model. Settings, Providers and keys, and \`POST /capability-tests\` run the same checks against the provider itself.

"Not offered" means that the API has no such parameter or takes no such file, so nothing is sent.

${table.join('\n')}

${notes.map((note, index) => `${index + 1}. ${note.replace(/[^.]$/, '$&.')}`).join('\n')}
`;
  return format(text, { ...(await resolveConfig(tableFile.pathname)), parser: 'markdown' });
}
