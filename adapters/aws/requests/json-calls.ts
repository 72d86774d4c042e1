import type { AwsRequests } from './aws-requests.ts';
import type { AwsService } from './services.ts';

/** Calls an action of one service with JSON and returns its result. Throws like `AwsRequests`. */
export type JsonCall = (action: string, input: object) => Promise<unknown>;

/** Service with an AWS JSON protocol: the prefix of its actions, and the version of the protocol. */
const protocols = {
  dynamodb: ['DynamoDB_20120810', '1.0'],
  events: ['AWSEvents', '1.1'],
  logs: ['Logs_20140328', '1.1'],
  monitoring: ['GraniteServiceVersion20100801', '1.0'],
  secretsmanager: ['secretsmanager', '1.1'],
  sqs: ['AmazonSQS', '1.0'],
  states: ['AWSStepFunctions', '1.0'],
} as const satisfies Partial<Record<AwsService, [string, string]>>;

/** Creates the calls of a service (smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html). Sends no request. */
export function jsonCalls(requests: AwsRequests, service: keyof typeof protocols): JsonCall {
  const [prefix, version] = protocols[service];
  return async (action, input) => {
    const { body } = await requests({
      service,
      method: 'POST',
      path: '/',
      headers: {
        'content-type': `application/x-amz-json-${version}`,
        'x-amz-target': `${prefix}.${action}`,
      },
      body: JSON.stringify(input),
    });
    const text = Buffer.from(body).toString();
    const answer: unknown = text === '' ? {} : JSON.parse(text);
    return answer;
  };
}
