/**
 * Metrics of AWS that alarms use, with their dimensions and the page of docs.aws.amazon.com that documents them (read
 * in November 2026). An alarm on a misspelled metric never fires.
 */
export const awsMetrics: { namespace: string; name: string; dimensions: string[]; page: string }[] = [
  ...lambda(
    'lambda/latest/dg/monitoring-metrics-types.html',
    'Errors',
    'Throttles',
    'Invocations',
    'RecursiveInvocationsDropped',
  ),
  ...lambda('lambda/latest/dg/urls-monitoring.html', 'Url5xxCount', 'UrlRequestCount'),
  {
    namespace: 'AWS/Lambda',
    name: 'ClaimedAccountConcurrency',
    dimensions: [],
    page: 'lambda/latest/dg/monitoring-concurrency.html',
  },
  ...states('ExecutionsStarted', 'ExecutionsFailed', 'ExecutionsTimedOut'),
  {
    namespace: 'AWS/States',
    name: 'ThrottledEvents',
    dimensions: ['ServiceMetric'],
    page: 'step-functions/latest/dg/procedure-cw-metrics.html',
  },
  ...['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => ({
    namespace: 'AWS/DynamoDB',
    name,
    dimensions: ['TableName'],
    page: 'amazondynamodb/latest/developerguide/metrics-dimensions.html',
  })),
  {
    namespace: 'AWS/SQS',
    name: 'ApproximateNumberOfMessagesVisible',
    dimensions: ['QueueName'],
    page: 'AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html',
  },
  ...['5xx', 'Count'].map((name) => ({
    namespace: 'AWS/ApiGateway',
    name,
    dimensions: ['ApiId'],
    page: 'apigateway/latest/developerguide/http-api-metrics.html',
  })),
];

function lambda(page: string, ...names: string[]) {
  return names.map((name) => ({ namespace: 'AWS/Lambda', name, dimensions: ['FunctionName'], page }));
}

function states(...names: string[]) {
  const page = 'step-functions/latest/dg/procedure-cw-metrics.html';
  return names.map((name) => ({ namespace: 'AWS/States', name, dimensions: ['StateMachineArn'], page }));
}
