import { expect, test } from 'vitest';
import { programName } from '../../../../../renderer/screens/recorder/program-name.ts';

test.each([
  ['claude-cli/2.1.197 (external, sdk-cli)', 'Claude Code 2.1.197'],
  ['codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)', 'Codex 0.169.0'],
  ['codex_cli_rs/0.50.0 (Mac OS 15.1; arm64) Apple_Terminal/455', 'Codex 0.50.0'],
  ['OpenAI/Python 3.22.1', 'OpenAI/Python 3.22.1'],
  ['Anthropic/JS 0.94.0', 'Anthropic/JS 0.94.0'],
  ['ai-sdk/openai/4.0.118 ai-sdk/provider-utils/5.0.1 runtime/node.js/v24.1.0', 'ai-sdk/openai 4.0.118'],
  ['google-genai-sdk/2.24.0 gl-node/v24.21.0', 'google-genai-sdk 2.24.0'],
  ['curl/7.88.1', 'curl 7.88.1'],
  ['python-requests/2.31.0', 'python-requests 2.31.0'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Cursor/1.7.2 Chrome/138.0 Electron/37.2 Safari/537.36',
    'Cursor 1.7.2',
  ],
  [
    'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0 Electron/37.2 Safari/537.36',
    'Electron 37.2',
  ],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140.0'],
  ['nightly.py', 'nightly.py'],
  ['My report 7', 'My report 7'],
  ['[e-mail hidden]/1.0', '[e-mail hidden]/1.0'],
  ['(only a comment)', '(only a comment)'],
  ['1.0', '1.0'],
  ['', ''],
  [null, 'unknown'],
])('the user agent %s is of %s', (userAgent, name) => {
  expect(programName(userAgent)).toBe(name);
});
