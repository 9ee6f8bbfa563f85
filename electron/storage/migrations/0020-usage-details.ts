/** Tokens by class as the provider reported them, its own usage object, and the day of the prices. Earlier runs have none of them. */
export const usageDetails = `
  ALTER TABLE runs ADD COLUMN cached_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN cache_write_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN reasoning_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN prices_from TEXT;
  ALTER TABLE run_texts ADD COLUMN usage_json TEXT;
`;
