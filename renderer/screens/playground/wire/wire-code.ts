import { useCallback } from 'react';
import type { Model } from '../../../../shared/contract/providers.ts';
import { defaultSettings } from '../../../../shared/contract/settings.ts';
import { useHostState } from '../../../queries/host-state.ts';
import { useSettings } from '../../../queries/settings.ts';
import type { Draft, Transport } from '../../../stores/playground-drafts.ts';
import { readRequest } from '../session/run-request.ts';
import type { CompletionRequest } from '../../../../shared/contract/completions.ts';

/** The address of the service for API clients, without a slash at the end. While the local server is off: its next address. */
export function useServiceAddress(): string {
  const serverAddress = useHostState().data?.serverAddress ?? null;
  const { port, isTls } = useSettings().data?.localServer ?? defaultSettings.localServer;
  const address =
    serverAddress ?? `${isTls ? 'https' : 'http'}://127.0.0.1:${port || defaultSettings.localServer.port}`;
  return address.replace(/\/$/, '');
}

/**
 * The call of this draft as code. A draft that can't run yet gives a call with the fields that can be read.
 */
export function useWireCode(draft: Draft, model: Model | null): (language: CodeLanguage) => string {
  const address = useServiceAddress();
  return useCallback(
    (language) => {
      const read = readRequest(draft, model);
      const { aiSystem, promptText } = draft;
      const request = 'request' in read ? read.request : { promptText, aiSystem, model: draft.model };
      return codeOf(language, { address, transport: draft.transport, request });
    },
    [address, draft, model],
  );
}

/** A call of the HTTP API that a person copies as code. */
export interface Call {
  /** Address of the host without a slash at the end, such as `http://127.0.0.1:4117`. */
  address: string;
  transport: Transport;
  request: CompletionRequest;
}

export const codeLanguages = ['curl', 'TypeScript', 'Python'] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

/** The environment variable from which the code reads the API key. */
export const keyVariable = 'TOUCHSTONE_API_KEY';

export const transports: Record<Transport, { path: string; accept: string; title: string }> = {
  sync: { path: '/api/completions/sync', accept: 'application/json', title: 'Sync' },
  'json-array': { path: '/api/completions/stream', accept: 'application/json', title: 'JSON array' },
  sse: { path: '/api/completions/sse', accept: 'text/event-stream', title: 'SSE' },
};

/** Code that makes the call and prints the answer as it streams. It needs only the key in the environment. */
export function codeOf(language: CodeLanguage, call: Call): string {
  return { curl, TypeScript: typeScript, Python: python }[language](call);
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function curl({ address, transport, request }: Call): string {
  const { path, accept } = transports[transport];
  return `curl --silent --show-error --no-buffer ${shellQuote(address + path)} \\
  --header "Authorization: Bearer $${keyVariable}" \\
  --header 'Content-Type: application/json' \\
  --header 'Accept: ${accept}' \\
  --data-raw ${shellQuote(JSON.stringify(request, null, 2))}
`;
}

const typeScriptReading: Record<Transport, string> = {
  sync: `const answer = await response.json();
console.log(answer.choices[0].message.content);
`,
  'json-array': `// Each element of the array is complete when its line ends; an error may be the last one.
let rest = '';
for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + bytes).split('\\n');
  rest = lines.pop() ?? '';
  for (const line of lines) print(line);
}
print(rest);

function print(line: string): void {
  const json = line.trim().replace(/^[[,]/, '').replace(/[\\],]$/, '').trim();
  if (json === '') return;
  const part = JSON.parse(json);
  if (part.error) throw new Error(part.error.message);
  process.stdout.write(part.choice.message.content ?? '\\n');
}
`,
  sse: `let rest = '';
for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
  const events = (rest + text).split('\\n\\n');
  rest = events.pop() ?? '';
  for (const event of events) {
    const part = JSON.parse(event.replace(/^data: /, ''));
    if (part.error) throw new Error(part.error.message);
    process.stdout.write(part.choice.message.content ?? '\\n');
  }
}
`,
};

function typeScript({ address, transport, request }: Call): string {
  const { path, accept } = transports[transport];
  return `const response = await fetch(${JSON.stringify(address + path)}, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.${keyVariable}}\`,
    'content-type': 'application/json',
    accept: '${accept}',
  },
  body: JSON.stringify(${indent(JSON.stringify(request, null, 2), 2)}),
});
if (!response.ok) throw new Error((await response.json()).error.message);

${typeScriptReading[transport]}`;
}

const pythonReading: Record<Transport, string> = {
  sync: `    answer = json.load(response)
    print(answer["choices"][0]["message"]["content"])
`,
  'json-array': `    for line in response:
        line = line.decode().strip().lstrip("[,").rstrip("],").strip()
        if not line:
            continue
        part = json.loads(line)
        if "error" in part:
            sys.exit(part["error"]["message"])
        print(part["choice"]["message"].get("content", "\\n"), end="", flush=True)
`,
  sse: `    for line in response:
        if not line.startswith(b"data: "):
            continue
        part = json.loads(line[len(b"data: "):])
        if "error" in part:
            sys.exit(part["error"]["message"])
        print(part["choice"]["message"].get("content", "\\n"), end="", flush=True)
`,
};

function python({ address, transport, request }: Call): string {
  const { path, accept } = transports[transport];
  return `import json
import os
import sys
import urllib.error
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(address + path)},
    data=json.dumps(${indent(pythonLiteral(request), 4)}).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['${keyVariable}']}",
        "Content-Type": "application/json",
        "Accept": "${accept}",
    },
)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as failure:
    sys.exit(json.load(failure)["error"]["message"])
with response:
${pythonReading[transport]}`;
}

/** A JSON string is a Python string too; only the three words differ. */
function pythonLiteral(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = '    '.repeat(depth + 1);
  const outer = '    '.repeat(depth);
  const items = Array.isArray(value)
    ? value.map((item) => inner + pythonLiteral(item, depth + 1))
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${pythonLiteral(item, depth + 1)}`);
  const [start, end] = Array.isArray(value) ? '[]' : '{}';
  return items.length === 0 ? `${start}${end}` : `${start}\n${items.join(',\n')},\n${outer}${end}`;
}

/** Indents all lines but the first. Strings contain no raw line breaks in either language. */
function indent(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}
