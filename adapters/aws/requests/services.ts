/** Service that is called with signed requests: its name in host names and signatures, and in settings of endpoints. */
const endpointSettings = {
  dynamodb: 'DYNAMODB',
  events: 'EVENTBRIDGE',
  lambda: 'LAMBDA',
  logs: 'CLOUDWATCH_LOGS',
  monitoring: 'CLOUDWATCH',
  s3: 'S3',
  secretsmanager: 'SECRETS_MANAGER',
  sqs: 'SQS',
  states: 'SFN',
};
/** Service that is called with signed requests. */
export type AwsService = keyof typeof endpointSettings;

/** Domains of the partitions by the prefix of their regions (docs.aws.amazon.com/general/latest/gr/rande.html). */
const partitionDomains = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['', 'amazonaws.com'],
] as const;

type Environment = Record<string, string | undefined>;

/** Returns the endpoint that the environment sets, by the names of the SDKs; undefined without one. */
export function findOwnEndpoint(service: AwsService, environment: Environment): string | undefined {
  return environment[`AWS_ENDPOINT_URL_${endpointSettings[service]}`] ?? environment['AWS_ENDPOINT_URL'];
}

/** Returns the regional endpoint of a service. */
export function regionalEndpoint(service: AwsService, region: string): string {
  const [, domain] = partitionDomains.find(([prefix]) => region.startsWith(prefix)) ?? ['', 'amazonaws.com'];
  return `https://${service}.${region}.${domain}`;
}
