// What is known of each provider, one line each. Threads load this list: it must not import packages of the AI SDK.
export { openAi as OpenAi } from './open-ai/details.ts';
export { anthropic as Anthropic } from './anthropic/details.ts';
export { googleGemini as GoogleGemini } from './google-gemini/details.ts';
export { groq as Groq } from './groq/details.ts';
export { cohere as Cohere } from './cohere/details.ts';
