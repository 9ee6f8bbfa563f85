/** The calls of tools in a run's answer, with what the provider needs to get back. Null if there are none. */
export const toolCalls = `
  ALTER TABLE run_texts ADD COLUMN tool_calls_json TEXT;
`;
