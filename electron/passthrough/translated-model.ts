import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Agent } from '../../shared/contract/agents.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import type { Configuration } from '../../shared/contract/completions.ts';
import { type Message, textMessage, textOfMessage } from '../../shared/contract/messages.ts';
import type { Prompt, PromptVersion } from '../../shared/contract/prompts.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import { isConversationTemplate, renderPrompt, renderTurn } from '../completions/render-prompt.ts';
import type { StoredPromptIds } from '../prompts/stored-prompt.ts';
import type { Storage } from '../storage/storage.ts';
import type { OwnModelKind } from './own-call.ts';

/** A program's request in the format of completions. */
export interface TranslatedRequest {
  /** What the program's user wrote last. */
  readonly promptText: string;
  readonly aiSystem: AiSystem;
  readonly model: string;
  readonly systemMessage: string | null;
  readonly messages: readonly Message[];
  readonly configuration: Configuration;
  readonly dataspaceIds: readonly string[] | null;
  readonly storedPrompt: StoredPromptIds | null;
  /** By it, a key without the scope `audit` doesn't see the instructions of an agent. */
  readonly agent: AgentUse | null;
}

/** The metadata of an agent's turn. */
export interface AgentUse {
  readonly agentId: string;
  readonly isTemplate?: true;
}

/** What a program's user wrote in the turn that a request continues. */
interface ContinuedTurn {
  readonly promptText: string;
  /** Whether its messages have an agent's template around that text. */
  readonly isTemplate: boolean;
}

/** What the program sent. */
export interface ProgramRequest {
  readonly systemMessage: string | null;
  readonly messages: readonly Message[];
  /** How many of them are those of an earlier response, which has what a template renders besides the text. */
  readonly continued: number;
  /** The earlier response's; null without one. */
  readonly continuedTurn: ContinuedTurn | null;
  readonly configuration: Configuration;
  /** Values of a prompt's variables. */
  readonly values: Readonly<Record<string, string>>;
}

export interface TranslationOptions {
  readonly storage: Pick<Storage, 'prompts' | 'agents' | 'settings'>;
  /** The file of the on-device model in use. */
  readonly onDeviceFile: () => string;
}

const unknown = (issue: string) => invalidField('model', issue);

function joined(...texts: readonly (string | null)[]): string | null {
  const present = texts.filter((text) => text !== null && text !== '');
  return present.length === 0 ? null : present.join('\n\n');
}

/** The service's model that runs on this device. */
function onDeviceModel(name: string, { storage, onDeviceFile }: TranslationOptions): string {
  if (name !== 'default' && name !== onDeviceFile())
    throw unknown(`is not the on-device model in use, on-device/${onDeviceFile()}`);
  const { serviceRoutes } = storage.settings.read();
  const model = serviceModels.find((each) => serviceRoutes[each].kind === 'on-device');
  if (model) return model;
  throw new AppError(
    'provider_not_configured',
    'No built-in model runs on this device. Route one to it in Settings, Built-in models.',
  );
}

/** The only item with this name or id. */
function named<Item extends { readonly id: string; readonly name: string }>(
  items: readonly Item[],
  name: string,
  kind: OwnModelKind,
): Item {
  const byId = items.find(({ id }) => id === name.toLowerCase());
  const found = byId ? [byId] : items.filter((item) => item.name.toLowerCase() === name.toLowerCase());
  if (found.length > 1) throw unknown(`names ${found.length} ${kind}s; use the id: ${kind}/${found[0]!.id}`);
  if (found[0]) return found[0];
  throw unknown(`names no ${kind}`);
}

/** All pages of a list, up to a number that nobody has. */
function allPages<Item>(list: (token: string | null) => { data: Item[]; continuationToken: string | null }): Item[] {
  const items: Item[] = [];
  let token: string | null = null;
  do {
    const page = list(token);
    items.push(...page.data);
    token = page.continuationToken;
  } while (token !== null && items.length < 10_000);
  return items;
}

/** Prompts whose name may be the given one. */
function promptsNamed(name: string, { storage }: TranslationOptions): Prompt[] {
  const filter = { search: name, isOnlyDetails: true, folder: null, tags: [] };
  return allPages((continuationToken) => storage.prompts.list({ pageSize: 100, continuationToken, filter }));
}

/** `NAME` is the newest version, `NAME@label` the one with the label. */
function versionOf(name: string, options: TranslationOptions): PromptVersion {
  const at = name.lastIndexOf('@');
  const label = at > 0 ? name.slice(at + 1) : null;
  const promptName = label === null ? name : name.slice(0, at);
  const { prompts } = options.storage;
  const isId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(promptName);
  const prompt = isId
    ? prompts.read(promptName.toLowerCase())
    : named(promptsNamed(promptName, options), promptName, 'prompt');
  const versionId =
    label === null || label.toLowerCase() === 'latest'
      ? prompt.latestVersionId
      : prompts.readLabel(prompt.id, label).promptVersionId;
  return prompts.findVersion(versionId)!;
}

/** What a template is rendered with, and the messages after it: the last message's files, calls of tools and their results. */
interface NewestTurn {
  readonly message: string;
  readonly history: Message[];
  readonly following: readonly Message[];
}

/** Null if the program sent nothing that a user wrote, such as a tool's result for a response that it continues. */
function newestTurn({ messages, continued }: ProgramRequest): NewestTurn | null {
  const isWritten = (message: Message) => message.role === 'user' && textOfMessage(message) !== '';
  const written = messages.findLastIndex((message, index) => index >= continued && isWritten(message));
  const isFileOnly = written === -1 && continued === 0 && messages.at(-1)?.role === 'user';
  const index = isFileOnly ? messages.length - 1 : written;
  if (index === -1) return null;
  const last = messages[index]!;
  const files = last.content.filter(({ type }) => type === 'file');
  return {
    message: textOfMessage(last),
    // A template renders its system messages again.
    history: messages.slice(0, index).filter(({ role }, at) => at >= continued || role !== 'system'),
    following: [...(files.length > 0 ? [{ ...last, content: files }] : []), ...messages.slice(index + 1)],
  };
}

/**
 * A prompt's variables get the program's values, and the only one without a value gets the text of its user's last message. A prompt
 * without such a variable comes before the messages.
 */
function fromPrompt(version: PromptVersion, request: ProgramRequest): Pick<TranslatedRequest, 'messages'> {
  const values: Record<string, unknown> = {};
  for (const { name, defaultValue } of version.variables) if (defaultValue != null) values[name] = defaultValue;
  Object.assign(values, request.values);
  const empty = version.variables.filter(({ name }) => values[name] === undefined);
  const turn = newestTurn(request);
  if (empty.length > 1) {
    throw invalidField(
      'metadata',
      `must have values of the prompt's variables: ${empty.map(({ name }) => name).join(', ')}`,
    );
  }
  if (empty.length === 0 || turn === null) {
    if (request.continued > 0) return { messages: request.messages };
    return { messages: [...renderPrompt(version.promptText, values).messages, ...request.messages] };
  }
  values[empty[0]!.name] = turn.message;
  return { messages: [...turn.history, ...renderPrompt(version.promptText, values).messages, ...turn.following] };
}

function translatePrompt(name: string, request: ProgramRequest, options: TranslationOptions): TranslatedRequest {
  const version = versionOf(name, options);
  const { messages } = fromPrompt(version, request);
  return {
    promptText: lastUserText(messages),
    messages,
    aiSystem: version.aiSystem ?? 'ServiceAi',
    model: version.model ?? serviceModels[0],
    systemMessage: joined(version.systemMessage, request.systemMessage),
    configuration: { ...version.configuration, ...request.configuration },
    dataspaceIds: null,
    storedPrompt: { promptId: version.promptId, promptVersionId: version.id },
    agent: null,
  };
}

function translateAgent(name: string, request: ProgramRequest, { storage }: TranslationOptions): TranslatedRequest {
  const agents = allPages<Agent>((continuationToken) => storage.agents.list({ pageSize: 100, continuationToken }));
  const agent = named(agents, name, 'agent');
  const isTemplateNow = isConversationTemplate(agent.prompt);
  // The agent may have been edited since the continued turn, whose template is in the messages.
  const isTemplate = isTemplateNow || request.continuedTurn?.isTemplate === true;
  const turn = isTemplateNow ? newestTurn(request) : null;
  const messages = turn
    ? [...renderTurn({ ...turn, template: agent.prompt }).messages, ...turn.following]
    : request.messages;
  return {
    promptText: writtenText(request),
    aiSystem: agent.aiSystem,
    model: agent.model,
    systemMessage: joined(isTemplateNow ? null : agent.prompt, request.systemMessage),
    messages,
    configuration: { ...agent.configuration, ...request.configuration },
    dataspaceIds: agent.dataspaceIds,
    storedPrompt: null,
    agent: { agentId: agent.id, ...(isTemplate && { isTemplate }) },
  };
}

/** Throws 400 for an unknown name and for missing values. The messages of the program are never templates. */
export function translateRequest(
  name: string,
  kind: OwnModelKind,
  request: ProgramRequest,
  options: TranslationOptions,
): TranslatedRequest {
  const { systemMessage, messages, configuration } = request;
  if (messages.length === 0) {
    const issue = systemMessage === null ? 'must not be empty' : 'must have a message that is no system message';
    throw invalidField('promptText', issue);
  }
  const plain = {
    promptText: lastUserText(messages),
    aiSystem: 'ServiceAi' as const,
    systemMessage,
    messages,
    configuration,
    dataspaceIds: null,
    storedPrompt: null,
    agent: null,
  };
  switch (kind) {
    case 'service':
      return { ...plain, model: name };
    case 'on-device':
      return { ...plain, model: onDeviceModel(name, options) };
    case 'prompt':
      return translatePrompt(name, request, options);
    case 'agent':
      return translateAgent(name, request, options);
  }
}

/** What the user wrote last. The rendered messages, and those of a continued turn, have the agent's template around it. */
function writtenText({ messages, continued, continuedTurn }: ProgramRequest): string {
  const sent = messages.slice(continued);
  if (continuedTurn === null || sent.some(({ role }) => role === 'user')) return lastUserText(sent);
  return continuedTurn.promptText;
}

/** For a request whose last message has no text, such as an image alone. */
function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return textOfMessage(last ?? textMessage('user', ''));
}
