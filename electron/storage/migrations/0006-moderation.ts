/**
 * What the guard found in a run: `moderation_flags` (`prompt:violence,answer:sexual`) is what runs are found by, with the run's
 * small columns; the scores, and the text that was withheld, stand with the long ones.
 */
export const moderationColumns = `
  ALTER TABLE runs ADD COLUMN moderation_flags TEXT;
  ALTER TABLE run_texts ADD COLUMN moderation_json TEXT;
`;
