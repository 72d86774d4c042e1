/**
 * What each family of models on Bedrock takes through Converse. Sources, read in autumn 2026:
 * Nova: docs.aws.amazon.com/nova/latest/userguide/modalities-video.html (one video, 25 MB a request), nova2-userguide
 * using-multimodal-models.html (5 pictures inline), userguide/tool-choice.html (a tool can be forced);
 * Claude: platform.claude.com/docs/en/build-with-claude/vision (5 MB a picture) and Bedrock's 20 MB a request;
 * Llama and the others: the model cards, and what users of Converse report of `toolChoice`.
 */
export type ModelFamily = {
  name: string;
  takesVideo: boolean;
  /** Pictures in one request; 0 for a model that cannot see. */
  mostPictures: number;
  /** All media of one request, before base64. */
  mostMediaBytes: number;
  /** How it is brought to answer in a schema: by a tool that it must use, one that it may use, or in its text. */
  answersBy: 'forced tool' | 'tool' | 'text';
  /** Claude from Opus 4.7 on refuses a request that sets `temperature`. */
  takesTemperature: boolean;
};

const megabyte = 1_000_000;

/** 25 MB a request include base64, which adds a third. */
const nova = {
  takesVideo: true,
  mostPictures: 20,
  mostMediaBytes: 18 * megabyte,
  answersBy: 'forced tool',
  takesTemperature: true,
} as const;

const picturesOnly = {
  takesVideo: false,
  mostPictures: 20,
  mostMediaBytes: 14 * megabyte,
  answersBy: 'forced tool',
  takesTemperature: true,
} as const;

const blind = { ...picturesOnly, mostPictures: 0 };

/** The first that matches holds. */
const families: (ModelFamily & { pattern: RegExp })[] = [
  { pattern: /^amazon\.nova-2-lite/, name: 'Nova 2 Lite', ...nova, mostPictures: 5 },
  { pattern: /^amazon\.nova-(lite|pro|premier)/, name: 'Nova', ...nova },
  {
    pattern: /^amazon\.(nova-(micro|sonic|canvas|reel|2-sonic)|titan)/,
    name: 'Nova without sight',
    ...blind,
  },
  { pattern: /^anthropic\.claude-(v|instant)/, name: 'Claude 2', ...blind },
  {
    pattern: /^anthropic\.claude-(3|(opus|sonnet|haiku)-4(-[0-6])?(-\d{8}|-v|:|$))/,
    name: 'Claude 3 to 4.6',
    ...picturesOnly,
  },
  { pattern: /^anthropic\.claude-/, name: 'Claude 4.7 and later', ...picturesOnly, takesTemperature: false },
  { pattern: /^meta\.llama4/, name: 'Llama 4', ...picturesOnly, mostPictures: 5, answersBy: 'tool' },
  {
    pattern: /^meta\.llama3-2-90b/,
    name: 'Llama 3.2 90B',
    ...picturesOnly,
    mostPictures: 1,
    answersBy: 'tool',
  },
  {
    pattern: /^meta\.llama3-2-11b/,
    name: 'Llama 3.2 11B',
    ...picturesOnly,
    mostPictures: 1,
    answersBy: 'text',
  },
  { pattern: /^meta\.llama/, name: 'Llama without sight', ...blind },
  { pattern: /^mistral\.pixtral/, name: 'Pixtral', ...picturesOnly, mostPictures: 10, answersBy: 'tool' },
];

/** Ids that are not listed: pictures in moderation, no video, no demands. */
const unknown: ModelFamily = {
  name: 'unknown',
  ...picturesOnly,
  mostPictures: 5,
  answersBy: 'tool',
};

/** Takes model ids, ids of inference profiles (`us.`, `eu.`, `apac.`, `global.` …) and the ARNs of both. */
export function modelFamily(modelId: string): ModelFamily {
  const id = modelId.slice(modelId.lastIndexOf('/') + 1).replace(/^[a-z]{2,6}(-gov)?\.(?=[a-z0-9]+\.)/, '');
  return families.find(({ pattern }) => pattern.test(id)) ?? unknown;
}

/** Nova Lite: $0.06 and $0.24 a million tokens, where Nova 2 Lite costs $0.33 and $2.75 (autumn 2026). */
export const cheapestWithVideo = 'amazon.nova-lite-v1:0';

/** Most regions reach it only through the inference profile of their geography. */
export function defaultModelId(region: string): string {
  if (region.startsWith('us-gov-')) return cheapestWithVideo;
  const geographies = { us: 'us', eu: 'eu', ap: 'apac', ca: 'ca' };
  const geography = Object.entries(geographies).find(([prefix]) => region.startsWith(`${prefix}-`));
  return geography === undefined ? cheapestWithVideo : `${geography[1]}.${cheapestWithVideo}`;
}
