/** Parameters, dataspaces and the prompt version that an agent was made from. */
export const agentSettingColumns = `
  ALTER TABLE agents ADD COLUMN configuration_json TEXT;
  ALTER TABLE agents ADD COLUMN dataspace_ids_json TEXT;
  ALTER TABLE agents ADD COLUMN prompt_id TEXT;
  ALTER TABLE agents ADD COLUMN prompt_version_id TEXT;
`;
