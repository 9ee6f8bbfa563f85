/** Conversations of the sample set, by id: they are named here before their first run is written. */
export const sampleTables = `
  CREATE TABLE sample_conversations (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;
