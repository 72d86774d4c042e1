/**
 * Capabilities of a Bedrock model family in Converse. Sources, read in autumn 2026. Nova:
 * docs.aws.amazon.com/nova/latest/userguide/modalities-video.html (one video, 25 MB per request), nova2-userguide
 * using-multimodal-models.html (5 inline images), userguide/tool-choice.html (forced tool). Claude:
 * platform.claude.com/docs/en/build-with-claude/vision (5 MB per image), Bedrock (20 MB per request). Llama and
 * others: model cards, and user reports about `toolChoice`.
 */
export type ModelFamily = {
  name: string;
  supportsVideo: boolean;
  /** Maximum images per request; 0 for a model without image support. */
  maxImages: number;
  /** Maximum bytes of all media per request, before base64. */
  maxMediaBytes: number;
  /** Method for structured output: a forced tool, an optional tool, or JSON in the text. */
  answersBy: 'forced tool' | 'tool' | 'text';
  /** False for Claude from Opus 4.7 on, which rejects `temperature`. */
  takesTemperature: boolean;
};

const megabyte = 1_000_000;

/** The limit of 25 MB per request includes base64, which adds a third. */
const nova = {
  supportsVideo: true,
  maxImages: 20,
  maxMediaBytes: 18 * megabyte,
  answersBy: 'forced tool',
  takesTemperature: true,
} as const;

const imagesOnly = {
  supportsVideo: false,
  maxImages: 20,
  maxMediaBytes: 14 * megabyte,
  answersBy: 'forced tool',
  takesTemperature: true,
} as const;

const textOnly = { ...imagesOnly, maxImages: 0 };

/** Families by pattern. The first match applies. */
const families: (ModelFamily & { pattern: RegExp })[] = [
  { pattern: /^amazon\.nova-2-lite/, name: 'Nova 2 Lite', ...nova, maxImages: 5 },
  { pattern: /^amazon\.nova-(lite|pro|premier)/, name: 'Nova', ...nova },
  {
    pattern: /^amazon\.(nova-(micro|sonic|canvas|reel|2-sonic)|titan)/,
    name: 'Nova without images',
    ...textOnly,
  },
  { pattern: /^anthropic\.claude-(v|instant)/, name: 'Claude 2', ...textOnly },
  {
    pattern: /^anthropic\.claude-(3|(opus|sonnet|haiku)-4(-[0-6])?(-\d{8}|-v|:|$))/,
    name: 'Claude 3 to 4.6',
    ...imagesOnly,
  },
  { pattern: /^anthropic\.claude-/, name: 'Claude 4.7 and later', ...imagesOnly, takesTemperature: false },
  { pattern: /^meta\.llama4/, name: 'Llama 4', ...imagesOnly, maxImages: 5, answersBy: 'tool' },
  {
    pattern: /^meta\.llama3-2-90b/,
    name: 'Llama 3.2 90B',
    ...imagesOnly,
    maxImages: 1,
    answersBy: 'tool',
  },
  {
    pattern: /^meta\.llama3-2-11b/,
    name: 'Llama 3.2 11B',
    ...imagesOnly,
    maxImages: 1,
    answersBy: 'text',
  },
  { pattern: /^meta\.llama/, name: 'Llama without images', ...textOnly },
  { pattern: /^mistral\.pixtral/, name: 'Pixtral', ...imagesOnly, maxImages: 10, answersBy: 'tool' },
];

/** Unknown models: a few images, no video, no forced tool. */
const unknown: ModelFamily = {
  name: 'unknown',
  ...imagesOnly,
  maxImages: 5,
  answersBy: 'tool',
};

/**
 * Returns the family of a model id, of an inference profile id (`us.`, `eu.`, `apac.`, `global.` …) or of the ARN
 * of either.
 */
export function modelFamily(modelId: string): ModelFamily {
  const id = modelId.slice(modelId.lastIndexOf('/') + 1).replace(/^[a-z]{2,6}(-gov)?\.(?=[a-z0-9]+\.)/, '');
  return families.find(({ pattern }) => pattern.test(id)) ?? unknown;
}

/**
 * Default model with video. Nova Lite costs $0.06 and $0.24 per million tokens, Nova 2 Lite $0.33 and $2.75 (autumn
 * 2026).
 */
export const defaultVideoModelId = 'amazon.nova-lite-v1:0';
