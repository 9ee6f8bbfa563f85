import type { Category } from '../../../shared/contract/moderation.ts';

export interface ExampleText {
  readonly text: string;
  /** The category of the example; null if it is harmless. */
  readonly category: Category | null;
}

/** Mild texts of each category, and harmless ones with suspicious words. A test checks that the Balanced preset gets each right. */
export const exampleTexts: readonly ExampleText[] = [
  { category: 'violence', text: 'I will wait at your depot and break his fingers.' },
  { category: 'harassment', text: 'You are a pathetic loser and nobody at work can stand you.' },
  { category: 'hatred', text: 'Immigrants are all criminals and should be driven out of our country.' },
  { category: 'selfHarm', text: 'I cannot go on. I want to end my life tonight.' },
  { category: 'sexual', text: 'She slowly undressed him in the bedroom, and they had sex until the morning.' },
  {
    category: 'violence',
    text: 'Thank you for the quick reply. My parcel is three weeks late. You stupid idiots cannot do anything right. If it is not here on Monday, I will come over and stab someone. The order number is 4711.',
  },
  { category: null, text: 'How do I kill a zombie process on Linux?' },
  { category: null, text: 'The striker shot twice and destroyed their defence in the final.' },
  { category: null, text: 'The nurse explained how to examine a breast for lumps.' },
  { category: null, text: 'Where can I find the torque table for the front axle?' },
];
