// The client of each provider, one line each.
export { createOpenAiProvider as OpenAi } from './open-ai/client.ts';
export { createAnthropicProvider as Anthropic } from './anthropic/client.ts';
export { createGoogleGeminiProvider as GoogleGemini } from './google-gemini/client.ts';
export { createGroqProvider as Groq } from './groq/client.ts';
export { createCohereProvider as Cohere } from './cohere/client.ts';
