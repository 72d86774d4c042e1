/**
 * Month of the list prices, `YYYY-MM`. Prices are in USD for us-east-1, without free tiers and discounts, from the pricing
 * pages of aws.amazon.com (step-functions, lambda, dynamodb, s3, sqs, cloudwatch, api-gateway, cloudfront, vpc, secrets-manager: `/pricing`).
 */
export const listPricesDate = '2026-11';

/** USD per unit. */
export const listPrices = {
  /** State transition of a standard workflow: $0.025 per thousand. */
  stateTransition: 0.025e-3,
  /** Express workflow: request, and memory in use over time, in chunks of 64 MB and 100 ms. */
  expressRequest: 1e-6,
  expressGigabyteSecond: 0.00001667,
  lambdaGigabyteSecondArm: 0.0000133334,
  lambdaRequest: 0.2e-6,
  /** On-demand units. */
  dynamoWriteUnit: 0.625e-6,
  dynamoReadUnit: 0.125e-6,
  s3Put: 5e-6,
  s3Get: 0.4e-6,
  sqsFifoRequest: 0.5e-6,
  logGigabyte: 0.5,
  httpApiRequest: 1e-6,
  /** Request of a REST API, and each further 10 MB of its response. */
  restApiRequest: 3.5e-6,
  cloudFrontRequest: 1e-6,
  /** Traffic through a NAT gateway, and the hour of one with its public address (`aws.amazon.com/vpc/pricing`). */
  natGigabyte: 0.045,
  natGatewayHour: 0.045,
  publicAddressHour: 0.005,
  /** Per month; an alarm on an expression is billed for each metric in it. */
  alarmMetric: 0.1,
  customMetric: 0.3,
  dashboard: 3,
  secret: 0.4,
} as const;
