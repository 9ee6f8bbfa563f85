/** The messages of a run's prompt, where there are several. Null for a single message, whose text is the rendered prompt. */
export const messages = `
  ALTER TABLE run_texts ADD COLUMN messages_json TEXT;
`;
