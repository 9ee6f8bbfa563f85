/** The words of the OpenAPI document that belong to no endpoint. */

type Json = Record<string, unknown>;

export const errorDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is not valid; `details` names the fields',
  401: 'The API key is missing, wrong or contradicted',
  402: 'The credits of the API key are used up',
  403: 'The API key or the origin may not do this',
  404: 'There is nothing with this id',
  409: 'Conflicts with the current state',
  413: 'The body is too large',
  415: 'The body is of another media type',
  421: 'The request was meant for another host',
  429: 'A rate limit of the API key or the provider was reached; `retry-after` says when to retry',
  500: 'A failure of the service itself',
  502: 'The provider failed',
  503: 'The provider is not set up, rejected its key or is overloaded',
  504: 'The provider stopped responding',
};

export const headerDescriptions: Readonly<Record<string, Json>> = {
  'x-request-id': { description: 'Names this request in the log', schema: { type: 'string', format: 'uuid' } },
  'x-served-by': {
    description: 'The model that answered, `<aiSystem>/<model>`; other characters than ASCII are percent-encoded',
    schema: { type: 'string' },
  },
  'x-run-id': { description: 'The run, as in the body', schema: { type: 'string', format: 'uuid' } },
  'x-conversation-id': { description: 'The conversation of the run', schema: { type: 'string', format: 'uuid' } },
  'x-credits-consumed': { description: 'Credits that this call costs', schema: { type: 'integer' } },
  'x-credits-remaining': { description: 'Credits that are left, for a key with a limit', schema: { type: 'integer' } },
  'RateLimit-Limit': {
    description: 'For a key with limits per minute: the limit that is reached first, of requests or of tokens',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'What is left of that limit', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the limit starts again', schema: { type: 'integer' } },
  'x-touchstone-recorded': {
    description: 'How much of the call is recorded; `failed` if it should have been and could not be',
    schema: { type: 'string', enum: ['all', 'metadata', 'none', 'failed'] },
  },
  'x-touchstone-run-id': {
    description: 'The run of a recorded call in the audit',
    schema: { type: 'string', format: 'uuid' },
  },
  'x-touchstone-conversation-id': {
    description: 'The conversation that a recorded call belongs to',
    schema: { type: 'string', format: 'uuid' },
  },
  'retry-after': { description: 'Seconds after which a new attempt makes sense', schema: { type: 'integer' } },
};

export const tagDescriptions: Readonly<Record<string, string>> = {
  Completions: 'Run a prompt on any model. Every run is recorded.',
  'Recorded calls': 'The APIs of OpenAI and Anthropic, passed on to the provider and recorded for audit.',
  Audit: 'Search the runs of all callers and rate them.',
  Moderation: 'Score a text in five categories, with the passages that caused the scores.',
  'Team database': 'The reviewers and hosts of the PostgreSQL to which several hosts copy their runs.',
  Conversations: 'Runs that belong together, in the order they were made.',
  Prompts: 'Stored prompts with their versions. A version never changes.',
  Tools: 'Functions that prompts and agents offer to a model. Touchstone never executes one.',
  Dataspaces: 'Collections of sources for search and grounding.',
  Sources: 'Files that are parsed, chunked and indexed on the device.',
  Files: 'Images, PDFs, text and audio that prompts send.',
  Datasets: 'Rows of values that fill the variables of prompts. A version never changes.',
  Comparisons: 'Prompts and models compared over the rows of a dataset. Every cell is a recorded run.',
  'Imported logs': 'Calls that other programs logged, in the same audit.',
  Judges: 'Models that give verdicts on answers, and how far they agree with people.',
  Reviews: 'Rubrics, reviewers and the queues in which several people review the same conversations.',
  Agents: 'Models with a system message that remember their conversations.',
  'Capability tests': 'What a model can do through its provider, tested with small requests.',
  Credits: 'What an API key may use and has used.',
  Description: 'The service about itself.',
};
