/**
 * Runs and conversations were named by the first line of the template. They now have the first words of the rendered prompt, or the
 * name of the stored prompt. A first line without `{{` reads the same in both, so only the others are read: a million runs
 * without variables take about a second.
 */
export const renderedTitles = `
  UPDATE runs SET title = (
      SELECT rendered_title(prompt_text, replacements_json, rendered_prompt, dataspace_ids_json)
      FROM run_texts WHERE run_texts.run = runs.sequence
    )
    WHERE instr(title, '{{') > 0 AND is_anonymous = 0;

  UPDATE conversations SET name = (
      SELECT coalesce(prompts.name, runs.title) FROM runs LEFT JOIN prompts ON prompts.id = runs.prompt_id
      WHERE runs.conversation = conversations.sequence ORDER BY runs.sequence LIMIT 1
    )
    WHERE name <> 'Anonymised' AND id NOT IN (SELECT id FROM sample_conversations) AND (
      instr(name, '{{') > 0 AND EXISTS (SELECT 1 FROM runs WHERE runs.conversation = conversations.sequence)
      OR (SELECT prompt_id FROM runs WHERE runs.conversation = conversations.sequence ORDER BY runs.sequence LIMIT 1)
        IN (SELECT id FROM prompts)
    );
`;
