import type { ModelPrice } from '../aws-provider.ts';

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
