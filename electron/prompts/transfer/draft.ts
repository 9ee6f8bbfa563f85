import type { AiSystem } from '../../../shared/contract/common.ts';
import type { PromptVariable } from '../../../shared/contract/prompts.ts';
import type { ReferencedFiles } from './referenced-files.ts';
import type { TransferEntry, VariableStyle } from '../../../shared/contract/prompt-transfer.ts';

/** One message of a prompt in the form of its format. `line` is where its text starts. */
export interface DraftMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'other';
  readonly text: string;
  readonly line: number | null;
}

/** A prompt as read from a file, before it is translated and checked. */
export interface Draft {
  name: string;
  /** Null: the folders of the file. */
  folder: string | null;
  tags: string[];
  description: string | null;
  note: string | null;
  messages: DraftMessage[];
  /** Null: derived from the texts. */
  style: VariableStyle | null;
  model: { readonly aiSystem: AiSystem | null; readonly model: string } | null;
  /** Under the service's names. */
  parameters: Map<string, unknown>;
  variables: Map<string, Partial<PromptVariable>>;
  /** Values that prompts share. A prompt gets the values of the variables in its template. */
  suiteVariables: ReadonlyMap<string, Partial<PromptVariable>>;
  /** Whether an assistant message at the end is the expected answer, as in files for training. */
  isTrainingExample: boolean;
  /** The file with its text, if another file describes it. */
  file: string | null;
  readonly entries: TransferEntry[];
  /** Why it can't be imported at all. */
  rejection: { readonly message: string; readonly line: number | null } | null;
}

export function emptyDraft(name: string): Draft {
  return {
    name,
    folder: null,
    tags: [],
    description: null,
    note: null,
    messages: [],
    style: null,
    model: null,
    parameters: new Map(),
    variables: new Map(),
    suiteVariables: new Map(),
    isTrainingExample: false,
    file: null,
    entries: [],
    rejection: null,
  };
}

export function note(
  { entries }: Pick<Draft, 'entries'>,
  outcome: TransferEntry['outcome'],
  field: string,
  message: string,
  line: number | null = null,
): void {
  entries.push({ outcome, field, message, line });
}

export function describeVariable(draft: Draft, name: string, details: Partial<PromptVariable>): void {
  draft.variables.set(name, { ...draft.variables.get(name), ...details });
}

/** Reads the text of one source. Throws `TransferError` if nothing can be imported. */
export type Reader = (text: string, source: { readonly name: string; readonly files: ReferencedFiles }) => Draft[];

/** `support/greeting.prompt` is the prompt `greeting`. */
export function baseName(path: string): string {
  const file = path.split(/[\\/]/).at(-1) ?? path;
  return file.replace(/\.[A-Za-z0-9]{1,8}$/, '') || file;
}

/** Names of partials start with an underscore. */
export function isPartial(path: string): boolean {
  return path.split(/[\\/]/).at(-1)!.startsWith('_');
}

export function roleOf(role: unknown): DraftMessage['role'] {
  if (role === 'system' || role === 'developer') return 'system';
  if (role === 'user' || role === 'human') return 'user';
  return role === 'assistant' || role === 'model' || role === 'ai' ? 'assistant' : 'other';
}
