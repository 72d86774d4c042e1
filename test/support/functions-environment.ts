/** Environment that the stack gives its functions, with unreachable addresses. */
export const functionsEnvironment = {
  PATH: process.env['PATH'],
  AWS_REGION: 'eu-west-1',
  AWS_LAMBDA_FUNCTION_NAME: 'watchpost',
  TABLE_NAME: 'jobs',
  MEDIA_BUCKET: 'pictures',
  QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/1/deliveries.fifo',
  STATE_MACHINE_ARN: 'arn:aws:states:eu-west-1:1:stateMachine:watchpost',
  CAPTURE_FUNCTION: 'capture',
  MODEL: JSON.stringify({ provider: 'bedrock', model: 'nova', supportsVideo: true, price: null }),
  ANALYZE_FUNCTION: 'analyze',
  MASTER_SECRET_ARN: 'arn:master',
  ORIGIN_SECRET_ARN: 'arn:origin',
  LOG_GROUP: '/watchpost',
  ALARM_PREFIX: 'Watchpost-test/',
  BASE_URL: 'https://watch.example/api',
  POWERTOOLS_SERVICE_NAME: 'watchpost',
};
