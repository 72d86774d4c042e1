/**
 * Default quotas of an account and region, with the page of each. `default` is that of most regions, `large` that of us-east-1, us-west-2 and
 * eu-west-1. They are per second unless the name says otherwise. New accounts start lower.
 */
export const quotas = {
  lambdaConcurrency: {
    name: 'Lambda: concurrent executions',
    default: 1000,
    large: 1000,
    source: 'docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html; a new account has 10',
  },
  modelTokensPerMinute: {
    name: 'Bedrock: tokens per minute of Nova Lite',
    default: 4_000_000,
    large: 4_000_000,
    source: 'docs.aws.amazon.com/general/latest/gr/bedrock.html, cross-region; a new account may have 0',
  },
  stateTransitions: {
    name: 'Step Functions: state transitions',
    default: 800,
    large: 5000,
    source: 'docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html',
  },
  startExecution: {
    name: 'Step Functions: StartExecution (Standard)',
    default: 150,
    large: 300,
    source: 'the same page; bursts of 800 and 1,300',
  },
  startSyncExecution: {
    name: 'Step Functions: StartExecution (Express)',
    default: 6000,
    large: 6000,
    source: 'the same page; that of StartSyncExecution is not published',
  },
  openExecutions: {
    name: 'Step Functions: open executions',
    default: 1_000_000,
    large: 1_000_000,
    source: 'the same page',
  },
  ruleInvocations: {
    name: 'EventBridge: invocations of targets',
    default: 1100,
    large: 18_750,
    source: 'docs.aws.amazon.com/general/latest/gr/ev.html',
  },
  newTableWrites: {
    name: 'DynamoDB: write units of a new table',
    default: 4000,
    large: 4000,
    source:
      'docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput.html; doubles within 30 minutes',
  },
  tableWrites: {
    name: 'DynamoDB: write units of a table',
    default: 40_000,
    large: 40_000,
    source: 'docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html',
  },
  tableReads: {
    name: 'DynamoDB: read units of a table',
    default: 40_000,
    large: 40_000,
    source: 'the same page',
  },
  partitionWrites: {
    name: 'DynamoDB: write units of the hottest key',
    default: 1000,
    large: 1000,
    source: 'docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html',
  },
  mediaPuts: {
    name: 'S3: writes below one prefix',
    default: 3500,
    large: 3500,
    source: 'docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html',
  },
  queueSends: {
    name: 'SQS: sends to a FIFO queue of high throughput',
    default: 2400,
    large: 70_000,
    source: 'docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html',
  },
  apiRequests: {
    name: 'API Gateway: requests',
    default: 10_000,
    large: 10_000,
    source: 'docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
  },
} as const;

export type QuotaName = keyof typeof quotas;
