import file from './sample-data.json' with { type: 'json' };

/** In each text, `[word]` is a slot that each conversation fills with its own person, order or amount (see `fillSlots`). */
export interface SampleTopic {
  /** Name of the conversation. */
  readonly name: string;
  readonly team: 'support' | 'engineering' | 'legal' | 'research' | 'localisation' | 'sales';
  /** Language of the texts, sent as a header. */
  readonly language: 'en' | 'de' | 'fr' | 'es' | 'it' | 'nl';
  readonly systemMessage: string | null;
  /** Handlebars template of the first run. */
  readonly promptText: string;
  readonly replacements: Readonly<Record<string, string>>;
  readonly answer: string;
  /** Questions about the previous answer, and their answers. */
  readonly next: readonly { readonly instruction: string; readonly answer: string }[];
}

export interface SampleOpinion {
  readonly text: string | null;
  readonly tags: string | null;
}

export interface SampleData {
  /** Values of slots. Addresses and numbers are reserved ones or test numbers of payment services: they belong to no person. */
  readonly values: Readonly<
    Record<
      | 'people'
      | 'cities'
      | 'products'
      | 'companies'
      | 'streets'
      | 'days'
      | 'months'
      | 'modules'
      | 'phones'
      | 'cards'
      | 'ibans',
      readonly string[]
    >
  >;
  readonly opinions: Readonly<Record<'good' | 'middling' | 'bad', readonly SampleOpinion[]>>;
  readonly failures: readonly {
    readonly code: 'rate_limited' | 'provider_overloaded' | 'provider_silent' | 'provider_failed';
    readonly message: string;
  }[];
  /** By field of work. */
  readonly topics: Readonly<
    Record<'support' | 'engineering' | 'legal' | 'research' | 'translation', readonly SampleTopic[]>
  >;
}

// TypeScript infers plain strings from JSON; a test checks the file.
export const sampleData = file as unknown as SampleData;
