/**
 * List prices in US dollars of us-east-1, without free tiers and discounts, read in November 2026 on the service's page below
 * aws.amazon.com (step-functions, lambda, dynamodb, s3, sqs, cloudwatch: `/pricing`).
 */
export const listPricesDate = '2026-11';

export const listPrices = {
  /** Standard workflows: $0.025 a thousand. */
  stateTransition: 0.025e-3,
  lambdaGigabyteSecondArm: 0.0000133334,
  lambdaRequest: 0.2e-6,
  /** On demand. */
  dynamoWriteUnit: 0.625e-6,
  dynamoReadUnit: 0.125e-6,
  s3Put: 5e-6,
  s3Get: 0.4e-6,
  sqsFifoRequest: 0.5e-6,
  logGigabyte: 0.5,
} as const;

export type ModelPrice = {
  /** Dollars a token. */
  input: number;
  output: number;
  /** What a picture of 896 × 504 px counts as. */
  pictureTokens: number;
  /** Of a clip, each second; null: takes no video. */
  videoTokensPerSecond: number | null;
};

const perMillion = (dollars: number): number => dollars / 1_000_000;

/** docs.aws.amazon.com/nova/latest/userguide/modalities-image.html: 900 × 450 px is about 800 tokens; modalities-video.html: 10 s are 2,880. */
const novaSight = { pictureTokens: 800, videoTokensPerSecond: 288 };
/** platform.claude.com/docs/en/build-with-claude/vision: width × height / 750. */
const claudeSight = { pictureTokens: 602, videoTokensPerSecond: null };

/** By the family's id, without version and geography: aws.amazon.com/bedrock/pricing, standard tier. */
export const modelPrices: Readonly<Record<string, ModelPrice>> = {
  'amazon.nova-lite': { input: perMillion(0.06), output: perMillion(0.24), ...novaSight },
  'amazon.nova-pro': { input: perMillion(0.8), output: perMillion(3.2), ...novaSight },
  'amazon.nova-premier': { input: perMillion(2.5), output: perMillion(12.5), ...novaSight },
  // nova2-userguide/using-multimodal-models.html: a picture is billed as 230 tokens.
  'amazon.nova-2-lite': {
    input: perMillion(0.33),
    output: perMillion(2.75),
    ...novaSight,
    pictureTokens: 230,
  },
  'anthropic.claude-haiku-4-5': { input: perMillion(1), output: perMillion(5), ...claudeSight },
  'anthropic.claude-sonnet-4-5': { input: perMillion(3), output: perMillion(15), ...claudeSight },
};

/** The price of a model id, with or without version, geography (`us.`) or vendor; undefined: not in the table. */
export function priceOfModel(modelId: string): ModelPrice | undefined {
  const known = Object.entries(modelPrices).find(([family]) => {
    const [, name = family] = family.split(/\.(.*)/);
    return new RegExp(`(^|\\.)${name}(-v?\\d|:|$)`).test(modelId);
  });
  return known?.[1];
}
