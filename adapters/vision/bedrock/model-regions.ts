import { defaultVideoModelId } from './model-families.ts';

/** Date of the tables below, `YYYY-MM`. */
export const modelRegionsDate = '2026-11';

/**
 * Regions from which Nova Lite can be called, by the prefix of its inference profile; the empty prefix is the model in the region itself.
 * Sources: docs.aws.amazon.com/bedrock/latest/userguide, pages batch-inference-supported (regions with a profile and with the model),
 * inference-profiles-support and model-card-amazon-nova-lite. A region that is missing here is not known to work.
 * GovCloud has the model, but not the CloudFront that a stack needs.
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

/**
 * Models that are no longer offered, or end soon, with the last day of service (docs.aws.amazon.com/bedrock/latest/userguide/model-lifecycle.html
 * and the model cards). New accounts cannot call a model in its legacy period.
 */
const endingModels: readonly { pattern: RegExp; name: string; until: string }[] = [
  {
    pattern: /anthropic\.claude-(v\d|instant|3-(opus|sonnet)|3-5-sonnet|3-7-)/,
    name: 'Claude 2 to 3.7 Sonnet',
    until: '2026-04-28',
  },
  { pattern: /anthropic\.claude-opus-4-20250514/, name: 'Claude Opus 4', until: '2026-05-31' },
  { pattern: /amazon\.nova-premier-v1/, name: 'Nova Premier', until: '2026-09-14' },
];

/** Returns a warning or an error about the lifecycle of a model on a day; undefined for a model that is offered. */
export function describeLifecycle(
  modelId: string,
  today: Date,
): { level: 'warning' | 'error'; message: string } | undefined {
  const ending = endingModels.find(({ pattern }) => pattern.test(modelId));
  if (!ending) return undefined;
  const over = today.toISOString().slice(0, 10) > ending.until;
  const alternative = `Use ${defaultVideoModelId} or a newer model.`;
  return over
    ? {
        level: 'error',
        message: `${modelId} (${ending.name}) ended on ${ending.until} at the latest. ${alternative}`,
      }
    : { level: 'warning', message: `${modelId} (${ending.name}) ends on ${ending.until}. ${alternative}` };
}
