/** How programs are pointed at this service. */

export const shells = ['bash', 'PowerShell'] as const;
export type Shell = (typeof shells)[number];

export interface ClientExample {
  readonly name: string;
  /** One line for the list. */
  readonly summary: string;
  /** What is copied. */
  readonly text: string;
}

type Variables = Readonly<Record<string, string>>;

/** The name of a variable with the API key, which never becomes part of a copied text. */
const keyVariable = 'TOUCHSTONE_KEY';

function keyIn(shell: Shell): string {
  return shell === 'bash' ? `$${keyVariable}` : `$env:${keyVariable}`;
}

function setVariables(variables: Variables, shell: Shell): string {
  const entries = Object.entries(variables);
  if (shell === 'bash') return `export ${entries.map(([name, value]) => `${name}="${value}"`).join(' ')}`;
  return entries.map(([name, value]) => `$env:${name} = "${value}"`).join('; ');
}

/** A command with variables that only it gets. PowerShell sets them for the session. */
function withVariables(variables: Variables, command: string, shell: Shell): string {
  if (shell === 'PowerShell') return `${setVariables(variables, shell)}; ${command}`;
  return `${Object.entries(variables)
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ')} ${command}`;
}

function curlText(openAi: string, shell: Shell): string {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello' }] });
  const headers = [`-H "Authorization: Bearer ${keyIn(shell)}"`, '-H "Content-Type: application/json"'];
  if (shell === 'bash') return [`curl ${openAi}/chat/completions`, ...headers, `-d '${body}'`].join(' \\\n  ');
  // Windows PowerShell removes the quotation marks inside of arguments for programs.
  return [`'${body}' | curl.exe ${openAi}/chat/completions`, ...headers, "-d '@-'"].join(' `\n  ');
}

/** With a base address, LangChain asks for the tokens of streams only if told to. */
function langChainText(openAi: string): string {
  return [
    'import os',
    'from langchain_openai import ChatOpenAI',
    '',
    'model = ChatOpenAI(',
    '    model="gpt-4o-mini",',
    `    base_url="${openAi}",`,
    `    api_key=os.environ["${keyVariable}"],`,
    '    stream_usage=True,',
    ')',
  ].join('\n');
}

/** A provider of its own: Codex sends OpenAI only the key of its login, and tries WebSockets first. */
function codexText(openAi: string): string {
  const provider = { name: 'Touchstone', base_url: openAi, env_key: keyVariable };
  const values = Object.entries(provider).map(([name, value]) => `-c model_providers.touchstone.${name}=${value}`);
  return ['codex -c model_provider=touchstone', ...values].join(' ');
}

/** The clients in the order of the list. `address` is that of the local server. */
export function clientExamples(address: string, shell: Shell): ClientExample[] {
  const openAi = `${address}/openai/v1`;
  const anthropic = `${address}/anthropic`;
  const gemini = `${address}/gemini`;
  const key = keyIn(shell);
  const openAiVariables = { OPENAI_BASE_URL: openAi, OPENAI_API_KEY: key };
  const anthropicVariables = { ANTHROPIC_BASE_URL: anthropic, ANTHROPIC_API_KEY: key };
  const tracing = {
    OTEL_EXPORTER_OTLP_ENDPOINT: address,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: `x-hl-api-key=${key}`,
  };
  return [
    { name: 'OpenAI SDK', summary: `OPENAI_BASE_URL=${openAi}`, text: setVariables(openAiVariables, shell) },
    {
      name: 'Anthropic SDK',
      summary: `ANTHROPIC_BASE_URL=${anthropic}`,
      text: setVariables(anthropicVariables, shell),
    },
    {
      name: 'Google Gen AI SDK',
      summary: `httpOptions: { baseUrl: '${gemini}' }`,
      text: `new GoogleGenAI({ apiKey: process.env.${keyVariable}, httpOptions: { baseUrl: '${gemini}' } })`,
    },
    {
      name: 'Codex',
      summary: `codex -c model_providers.touchstone.base_url=${openAi}`,
      text: codexText(openAi),
    },
    {
      name: 'Claude Code',
      summary: `ANTHROPIC_BASE_URL=${anthropic} claude`,
      text: withVariables(anthropicVariables, 'claude', shell),
    },
    {
      name: 'LangChain',
      summary: `ChatOpenAI(base_url="${openAi}")`,
      text: langChainText(openAi),
    },
    {
      name: 'Vercel AI SDK',
      summary: `createOpenAI({ baseURL: '${openAi}' })`,
      text: `createOpenAI({ baseURL: '${openAi}', apiKey: process.env.${keyVariable} })`,
    },
    { name: 'curl', summary: `curl ${openAi}/chat/completions`, text: curlText(openAi, shell) },
    { name: 'OpenTelemetry', summary: `OTEL_EXPORTER_OTLP_ENDPOINT=${address}`, text: setVariables(tracing, shell) },
  ];
}
