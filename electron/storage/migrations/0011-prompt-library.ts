/**
 * What is looked for in the library, and labels that point at versions.
 *
 * A row of `prompt_search` is what a prompt itself says (version 0) or what a version says that the one before it did not: most
 * versions repeat their predecessor, and repeated lines would make every common word five times as slow. Its rowid is the
 * prompt's `sequence` * 2^24 + the version's `number`, so that found rows need no table to tell their prompt. Each text
 * ends with two line feeds: words of one or two characters are found as beginnings of trigrams, also at the end of the text.
 */
export const promptLibraryTables = `
  CREATE VIRTUAL TABLE prompt_search USING fts5 (text, tokenize = 'trigram remove_diacritics 1');
  CREATE VIRTUAL TABLE prompt_search_terms USING fts5vocab (prompt_search, row);
  INSERT INTO prompt_search (rowid, text)
    SELECT sequence * 16777216, concat_ws(char(10), name, folder,
      (SELECT group_concat(value, char(10)) FROM json_each(tags_json)), description) || char(10, 10)
    FROM prompts WHERE deleted_at IS NULL;
  INSERT INTO prompt_search (rowid, text)
    SELECT prompt * 16777216 + number, concat_ws(char(10), prompt_text, system_message, ai_system, model, note,
      (SELECT group_concat(atom, char(10)) FROM json_tree(variables_json))) || char(10, 10)
    FROM prompt_versions WHERE prompt IN (SELECT sequence FROM prompts WHERE deleted_at IS NULL);

  CREATE TABLE prompt_labels (
    prompt INTEGER NOT NULL REFERENCES prompts (sequence),
    label TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES prompt_versions (sequence),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (prompt, label)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE prompt_label_changes (
    sequence INTEGER PRIMARY KEY,
    prompt INTEGER NOT NULL REFERENCES prompts (sequence),
    label TEXT NOT NULL,
    previous_version INTEGER REFERENCES prompt_versions (sequence),
    version INTEGER REFERENCES prompt_versions (sequence),
    changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX label_changes_of_prompt ON prompt_label_changes (prompt, sequence);
  CREATE TRIGGER prompt_label_changes_never_change BEFORE UPDATE ON prompt_label_changes
    BEGIN SELECT RAISE(ABORT, 'The history of a label never changes'); END;
  CREATE TRIGGER prompt_label_changes_never_go BEFORE DELETE ON prompt_label_changes
    BEGIN SELECT RAISE(ABORT, 'The history of a label is never removed'); END;
`;
