/**
 * A process that asks an address twice, as providers are called and as models are fetched, and writes both answers or errors as
 * a JSON list. Its environment says which way, and what to trust.
 */
import { trustSystemCertificates, useNetwork } from '../../electron/outgoing-network.ts';
import { createProviderFetch } from '../../electron/providers/provider-fetch.ts';

const address = process.argv[2]!;
const transport = createProviderFetch({
  timeLimits: () => ({ firstByteSeconds: 60, betweenBytesSeconds: 60 }),
  environment: process.env,
});

async function textOf(answer: () => Promise<Response>): Promise<string> {
  try {
    return await (await answer()).text();
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

const asProvider = await textOf(() => transport.fetch(address));
await useNetwork({ environment: process.env }, () => undefined);
trustSystemCertificates();
const asModel = await textOf(() => fetch(address));
process.stdout.write(JSON.stringify([asProvider, asModel]));
await transport.close();
