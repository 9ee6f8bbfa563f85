/**
 * Conversations that go on from a place within another one: what was said in `origin_id` before `origin_run_id` was said in them too. A
 * branch stands here before its first run makes it a conversation.
 */
export const conversationBranchTables = `
  CREATE TABLE conversation_branches (
    conversation_id TEXT PRIMARY KEY,
    caller_id TEXT NOT NULL,
    origin_id TEXT NOT NULL,
    origin_run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX branches_of_conversations ON conversation_branches (origin_id, origin_run_id);
`;
