import { Duration, Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { queueEncryption } from '../storage/service-key.ts';
import type { Construct } from 'constructs';

/** Dead-letter queue with the maximum retention of SQS, 14 days. Operators inspect its messages. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, { fifo }: { fifo: boolean }) {
    super(scope, id, {
      // CloudFormation rejects `fifo: false`.
      ...(fifo && { fifo }),
      ...queueEncryption(scope),
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this).acknowledge({
      id: 'Serverless-SQSRedrivePolicy',
      reason: 'This queue is a dead-letter queue.',
    });
  }
}
