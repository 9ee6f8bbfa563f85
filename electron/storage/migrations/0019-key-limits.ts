/** Limits of an API key per minute; null is no limit. */
export const keyLimitColumns = `
  ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER;
  ALTER TABLE api_keys ADD COLUMN tokens_per_minute INTEGER;
`;
