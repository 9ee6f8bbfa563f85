import { expect, test } from 'vitest';
import { isOtlp, otlpCalls } from '../../../../electron/audit/import/otlp-calls.ts';
import { chatAttributes, otlpRequest } from '../../../support/otlp-log.ts';

test('reads a request whose fields have the names of the definition', () => {
  const request = otlpRequest([{ spanId: '0000000000000001', attributes: chatAttributes('Which bird?', 'A pelican') }]);
  const fields = /"([a-z]+(?:[A-Z][a-z]+)+)":/g;
  const text = JSON.stringify(request).replace(fields, (name) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  const snakeCase = JSON.parse(text) as Record<string, unknown>;
  expect(Object.keys(snakeCase)).toEqual(['resource_spans']);
  expect(isOtlp(snakeCase)).toBe(true);
  expect(otlpCalls(snakeCase)).toEqual(otlpCalls(request));
  expect(otlpCalls(snakeCase)).toMatchObject([{ client: 'claims-bot', answer: { content: 'A pelican' } }]);
});
