import { describe, expect, it, vi } from 'vitest';
import { parseAddress } from '../../../electron/common/parse-address.ts';

/** What `new URL` parsed during the work. */
function parsedBy(work: () => void): string[] {
  const parsed: string[] = [];
  const Plain = URL;
  vi.stubGlobal(
    'URL',
    class extends Plain {
      constructor(text: string) {
        super(text);
        parsed.push(text);
      }
    },
  );
  try {
    work();
  } finally {
    vi.unstubAllGlobals();
  }
  return parsed;
}

describe('an address', () => {
  it.each([
    'http://127.0.0.1:4000/openai/v1/chat/completions',
    'HTTPS://Example.com:443/a/../b?key=one#part',
    'http://someone:secret@[::1]:9/%7Bid%7D',
  ])('has the parts of a URL: %s', (text) => {
    const { href, origin, protocol, host, pathname, search } = new URL(text);
    for (let time = 0; time < 2; time += 1)
      expect(parseAddress(text)).toEqual({ href, origin, protocol, host, pathname, search });
  });

  it('that is none throws each time', () => {
    for (let time = 0; time < 2; time += 1) expect(() => parseAddress('//no scheme')).toThrow(TypeError);
  });

  it('is parsed once', () => {
    const text = 'http://127.0.0.1:1/once';
    expect(parsedBy(() => [text, text].forEach(parseAddress))).toEqual([text]);
  });

  it.each([
    ['a query', 'http://127.0.0.1:1/kept?key=secret'],
    ['a user', 'http://someone:secret@127.0.0.1:1/kept'],
    ['many characters', `http://127.0.0.1:1/${'a'.repeat(300)}`],
  ])('with %s is not kept', (_, text) => {
    expect(parsedBy(() => [text, text].forEach(parseAddress))).toEqual([text, text]);
  });

  it('is forgotten after 256 others', () => {
    const text = 'http://127.0.0.1:1/old';
    const others = Array.from({ length: 256 }, (_, index) => `http://127.0.0.1:1/${index}`);
    expect(parsedBy(() => [text, ...others, text].forEach(parseAddress))).toEqual([text, ...others, text]);
  });
});
