import { invalidField } from '../../shared/app-error.ts';
import {
  createTool,
  createToolVersion,
  deleteTool,
  listTools,
  listToolUses,
  listToolVersions,
  readTool,
  readToolVersion,
  type ToolInput,
} from '../../shared/contract/tool-library.ts';
import { describeSchemaIssue } from '../../shared/json-schema.ts';
import type { SchemaChecker } from '../schemas/create-schema-checker.ts';
import type { ToolStore } from '../storage/tool-store.ts';
import { type Handler, implement } from './api.ts';
import { toListQuery } from './validation.ts';

export interface ToolHandlerOptions {
  readonly tools: ToolStore;
  readonly schemas: Pick<SchemaChecker, 'check'>;
}

/** The library of tools. */
export function toolHandlers({ tools, schemas }: ToolHandlerOptions): Handler[] {
  /** Throws `invalid_request` for a schema that no run could use. */
  async function requireSchema({ parameters }: ToolInput, signal: AbortSignal): Promise<void> {
    const issue = await schemas.check(parameters, { signal });
    if (issue) throw invalidField('parameters', describeSchemaIssue(issue));
  }

  return [
    implement(listTools, ({ query }) => tools.list({ ...toListQuery(query), search: query.search ?? null })),
    implement(createTool, async ({ body, signal }) => {
      await requireSchema(body, signal);
      return tools.create(body);
    }),
    implement(readTool, ({ parameters }) => tools.read(parameters.id)),
    implement(deleteTool, ({ parameters }) => tools.remove(parameters.id)),
    implement(listToolVersions, ({ parameters, query }) => tools.listVersions(parameters.id, toListQuery(query))),
    implement(listToolUses, ({ parameters, query }) => tools.listUses(parameters.id, toListQuery(query))),
    implement(createToolVersion, async ({ parameters, body, signal }) => {
      tools.read(parameters.id);
      await requireSchema(body, signal);
      return tools.addVersion(parameters.id, body);
    }),
    implement(readToolVersion, ({ parameters }) => tools.readVersion(parameters.id, parameters.versionId)),
  ];
}
