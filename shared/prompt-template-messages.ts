/** Collects the output of a template into messages, as dotprompt does. A printed value is text, whatever it contains. */

import { type FilePart, type Message, type MessagePart, type MessageRole, textMessage } from './contract/messages.ts';

/** More messages help no model, and each one takes space in the run's record. */
export const maxMessages = 1000;

export class MessageCollector {
  private readonly messages: Message[] = [];
  private role: MessageRole = 'user';
  private parts: MessagePart[] = [];
  private text = '';
  /** Whether there was anything but text. If not, the text is one unchanged user message. */
  private isConversation = false;
  private hasHistory = false;

  append(text: string): void {
    this.text += text;
  }

  /** Starts a message. A role without text, or with only white space, has no message. */
  startRole(role: MessageRole): void {
    this.isConversation = true;
    this.endMessage();
    this.role = role;
  }

  addFile(file: FilePart): void {
    this.isConversation = true;
    this.endText();
    this.parts.push(file);
  }

  /** Text after the history belongs to the assistant until the next role. */
  addHistory(history: readonly Message[]): void {
    this.isConversation = true;
    this.hasHistory = true;
    this.endMessage();
    this.messages.push(...history);
    this.role = 'assistant';
  }

  get count(): number {
    return this.messages.length;
  }

  /** If the template doesn't place the history, it comes before a last user message, or else at the end. */
  finish(history: readonly Message[]): Message[] {
    if (!this.isConversation) return [...history, textMessage('user', this.text)];
    this.endMessage();
    if (this.hasHistory || history.length === 0) return this.messages;
    const isUserLast = this.messages.at(-1)?.role === 'user';
    return this.messages.toSpliced(isUserLast ? -1 : this.messages.length, 0, ...history);
  }

  private endText(): void {
    if (this.text.trim() !== '') this.parts.push({ type: 'text', text: this.text });
    this.text = '';
  }

  private endMessage(): void {
    this.endText();
    if (this.parts.length > 0) this.messages.push({ role: this.role, content: this.parts });
    this.parts = [];
  }
}
