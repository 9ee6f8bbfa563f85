/**
 * One kind of work. In every text `[word]` stands for something that changes from conversation to conversation: a person, an
 * order, an amount (see `sample-slots.ts`).
 */
export interface SampleTopic {
  /** Of the conversation. */
  readonly name: string;
  readonly team: 'support' | 'engineering' | 'legal' | 'research' | 'localisation' | 'sales';
  /** Language of the texts, as a header says it. */
  readonly language: 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl';
  readonly systemMessage: string | null;
  /** Handlebars template of the first run. */
  readonly promptText: string;
  readonly replacements: Readonly<Record<string, string>>;
  readonly answer: string;
  /** What was asked next of the answer before, and what came back. */
  readonly next: readonly { readonly instruction: string; readonly answer: string }[];
}
