import { z } from 'zod';
import { uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/** Only the host of a window in a browser has this endpoint, so it is not in the index of the contract. */
export const createExportDownload = defineEndpoint({
  id: 'createExportDownload',
  method: 'post',
  path: '/window/browser/exports/{id}',
  access: 'window',
  tag: 'Window: browser',
  summary: 'An address that downloads an evidence pack once, within a minute',
  parameters: z.object({ id: uuid }),
  response: z.object({ address: z.string() }),
});
