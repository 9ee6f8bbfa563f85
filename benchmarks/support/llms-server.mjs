import { createRequire } from 'node:module';

// The peer @musistudio/llms in front of the upstream, without its log.
const [port, upstreamPort] = process.argv.slice(2);
const load = createRequire(new URL('../peers/package.json', import.meta.url));
const { default: Server } = load('@musistudio/llms');
const provider = {
  name: 'bench',
  api_base_url: `http://127.0.0.1:${upstreamPort}/v1/chat/completions`,
  api_key: 'none',
  models: ['flood', 'paced', 'fixed'],
};
const initialConfig = { PORT: port, HOST: '127.0.0.1', providers: [provider] };
await new Server({ initialConfig, useJsonFile: false, useEnvFile: false, logger: false }).start();
