import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

export const readOpenApi = defineEndpoint({
  id: 'readOpenApi',
  method: 'get',
  path: '/openapi.json',
  access: 'public',
  tag: 'Description',
  summary: 'Read this description',
  description: 'The OpenAPI 3.1 document of the endpoints that API keys can call.',
  response: z.record(z.string(), z.unknown()),
});
