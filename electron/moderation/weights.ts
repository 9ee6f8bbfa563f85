import { readWeights, type ModerationWeights, type WeightsFile } from './linear-model.ts';
import weightsFile from './weights/on-device-1.json' with { type: 'json' };

let weights: ModerationWeights | null = null;

/** The trained weights, unpacked at the first use. */
export function moderationWeights(): ModerationWeights {
  return (weights ??= readWeights(weightsFile as WeightsFile));
}
