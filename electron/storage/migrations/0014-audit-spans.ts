/** A saved view of the last seven days means those of the day on which it is opened. */
export const auditSpanColumn = `
  ALTER TABLE audit_views ADD COLUMN span TEXT;
`;
