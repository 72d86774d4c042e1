import { defaultVideoModelId } from './model-families.ts';
import type { ModelPrice } from '../aws-provider.ts';

/** Date of the tables below, `YYYY-MM`. */
export const modelRegionsDate = '2026-11';

/**
 * Regions from which Nova Lite can be called, by the prefix of its inference profile; the empty prefix is the model in
 * the region itself. Sources: docs.aws.amazon.com/bedrock/latest/userguide, pages batch-inference-supported (regions
 * with a profile and with the model), inference-profiles-support and model-card-amazon-nova-lite. A region that is
 * missing here is not known to work. GovCloud has the model, but not the CloudFront that a stack needs.
 */
const regionsByPrefix: Readonly<Record<string, readonly string[]>> = {
  us: ['us-east-1', 'us-east-2', 'us-west-2'],
  eu: ['eu-central-1', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-3'],
  apac: ['ap-northeast-1', 'ap-northeast-2', 'ap-south-1', 'ap-southeast-1', 'ap-southeast-2'],
  ca: ['ca-central-1'],
  '': ['eu-west-2'],
};

/** Regions with a default model. */
export const modelRegions: readonly string[] = Object.values(regionsByPrefix).flat();

/** Returns the id of the default model for calls from a region; undefined if the region is not known to have it. */
export function defaultModelId(region: string): string | undefined {
  const prefix = Object.keys(regionsByPrefix).find((each) => regionsByPrefix[each]?.includes(region));
  if (prefix === undefined) return undefined;
  return prefix === '' ? defaultVideoModelId : `${prefix}.${defaultVideoModelId}`;
}

/** Describes what to configure for a region without a default model. */
export function describeMissingModel(region: string): string {
  const geography = region.slice(0, 2);
  const near = modelRegions.filter((each) => each.startsWith(`${geography}-`));
  const regions = (near.length > 0 ? near : ['us-east-1', 'eu-central-1']).join(', ');
  return `${defaultVideoModelId} is not known to be available in ${region} (table of ${modelRegionsDate}). Set bedrockRegion to one of ${regions}, or modelId to a model that Bedrock offers in ${region}, such as an inference profile "global.…" from its model catalog.`;
}

const perMillion = (dollars: number): number => dollars / 1_000_000;

/**
 * About 800 tokens for 900 × 450 px, 2,880 for 10 s (docs.aws.amazon.com/nova/latest/userguide: modalities-image.html,
 * modalities-video.html).
 */
const novaTokens = { pictureTokens: 800, videoTokensPerSecond: 288 };
/** Width × height / 750 (platform.claude.com/docs/en/build-with-claude/vision). */
const claudeTokens = { pictureTokens: 602, videoTokensPerSecond: null };

/** Prices by model family, without version and geography (aws.amazon.com/bedrock/pricing, standard tier). */
export const modelPrices: Readonly<Record<string, ModelPrice>> = {
  'amazon.nova-lite': { input: perMillion(0.06), output: perMillion(0.24), ...novaTokens },
  'amazon.nova-pro': { input: perMillion(0.8), output: perMillion(3.2), ...novaTokens },
  // An image is billed as 230 tokens (nova2-userguide/using-multimodal-models.html).
  'amazon.nova-2-lite': {
    input: perMillion(0.33),
    output: perMillion(2.75),
    ...novaTokens,
    pictureTokens: 230,
  },
  'anthropic.claude-haiku-4-5': { input: perMillion(1), output: perMillion(5), ...claudeTokens },
  'anthropic.claude-sonnet-4-5': { input: perMillion(3), output: perMillion(15), ...claudeTokens },
};

/**
 * Finds the price of a model id, with or without version, geography (`us.`) or vendor. Returns undefined if unknown.
 */
export function priceOfModel(modelId: string): ModelPrice | undefined {
  const listed = Object.entries(modelPrices).find(([family]) => {
    const [, name = family] = family.split(/\.(.*)/);
    return new RegExp(`(^|\\.)${name}(-v?\\d|:|$)`).test(modelId);
  });
  return listed?.[1];
}
