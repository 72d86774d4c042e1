import type { StageSettings } from '../stages/stage-settings.ts';

type Stage = Pick<StageSettings, 'eventBus' | 'visionProvider' | 'bedrockRegion'>;
type Endpoint = { name: string; when?: (stage: Stage, region: string) => boolean };

/**
 * Endpoints of a VPC by the service of the actions that functions request themselves. A test compares them with the
 * roles of all kinds of stages.
 */
export const endpointsByService: Readonly<Record<string, Endpoint>> = {
  bedrock: {
    name: 'bedrock-runtime',
    when: ({ visionProvider, bedrockRegion }, region) =>
      visionProvider === 'bedrock' && (bedrockRegion ?? region) === region,
  },
  cloudwatch: { name: 'monitoring' },
  dynamodb: { name: 'dynamodb' },
  events: { name: 'events', when: ({ eventBus }) => eventBus !== undefined },
  lambda: { name: 'lambda' },
  logs: { name: 'logs' },
  s3: { name: 's3' },
  secretsmanager: { name: 'secretsmanager' },
  sqs: { name: 'sqs' },
  states: { name: 'states' },
};

/** Lists the endpoints that the functions of a stage need in a VPC without a route to the internet. */
export function listEndpoints(stage: Stage, region: string): string[] {
  return Object.values(endpointsByService)
    .filter(({ when }) => when?.(stage, region) ?? true)
    .map(({ name }) => `com.amazonaws.${region}.${name}`);
}
