import { windowTexts } from '../../electron/moderation/windows.ts';
import type { LabelledText } from '../../scripts/moderation/corpus.ts';
import type { Probe } from '../../scripts/moderation/cross-validation.ts';
import { randomNumbers } from '../../scripts/moderation/logistic-regression.ts';
import { isBenign } from '../../scripts/moderation/training.ts';

const seed = 7;
const maxCharacters = 120;
const probes = 200;

const asSentence = ({ text }: LabelledText) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Short harmful texts, each with three harmless sentences before it and two after it. */
export function surroundedTexts(own: readonly LabelledText[]): Probe[] {
  const random = randomNumbers(seed);
  const harmless = own.filter((text) => isBenign(text) && text.text.length <= maxCharacters);
  const any = () => asSentence(harmless[Math.floor(random() * harmless.length)]!);
  const bad = own
    .map((text, source) => ({ text, source }))
    .filter(({ text }) => Object.values(text.labels).includes(true) && text.text.length <= maxCharacters);
  const step = Math.max(1, Math.floor(bad.length / probes));
  return bad
    .filter((_, index) => index % step === 0)
    .map(({ text: source, source: position }) => {
      const text = [any(), any(), any(), asSentence(source), any(), any()].join(' ');
      return { source: position, text: { text, labels: source.labels, windows: windowTexts(text) } };
    });
}
