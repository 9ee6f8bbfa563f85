import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

export const readOpenApi = defineEndpoint({
  id: 'readOpenApi',
  method: 'get',
  path: '/openapi.json',
  access: 'public',
  tag: 'Description',
  summary: 'This description, as an OpenAPI 3.1 document',
  response: z.record(z.string(), z.unknown()),
});
