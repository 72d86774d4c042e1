import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createAwsRequests, type AwsRequests } from './aws-requests.ts';

/** Creates signed requests with the region and the credentials of a client of the SDK, which reads the configuration of the user. */
export function userRequests({ config }: Pick<DynamoDBClient, 'config'>): AwsRequests {
  return createAwsRequests({ region: config.region, credentials: config.credentials });
}
