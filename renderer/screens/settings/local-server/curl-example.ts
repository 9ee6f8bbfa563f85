import { serviceModels } from '../../../../shared/contract/settings.ts';

export type CurlTransport = 'sync' | 'sse' | 'stream';

const flags: Record<CurlTransport, readonly string[]> = {
  sync: [],
  sse: ['-N', "-H 'Accept: text/event-stream'"],
  stream: ['-N'],
};

/** A call that works as it stands once the key is put in: one for each way an answer can come. */
export function curlExample(address: string, transport: CurlTransport): string {
  const isTls = address.startsWith('https:');
  const protocol = transport === 'stream' ? [isTls ? '--http2' : '--http2-prior-knowledge'] : [];
  // The certificate is made on this machine, and nobody else's curl knows it.
  const certificate = isTls ? ['--insecure'] : [];
  const body = {
    promptText: 'Greet {{name}} in one sentence.',
    aiSystem: 'ServiceAi',
    model: serviceModels[1],
    replacements: { name: 'Mara' },
  };
  const parts = [
    `curl ${address}/api/completions/${transport}`,
    ...certificate,
    ...protocol,
    ...flags[transport],
    '-H "Authorization: Bearer $TOUCHSTONE_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '${JSON.stringify(body)}'`,
  ];
  return parts.join(' \\\n  ');
}
