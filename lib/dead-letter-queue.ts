import { Duration, Validations } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';

/** Keeps what could not be handled for two weeks, the longest that SQS has, and is read by people. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, { fifo }: { fifo: boolean }) {
    super(scope, id, {
      // `fifo: false` is no property of a queue.
      ...(fifo && { fifo }),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    Validations.of(this).acknowledge({
      id: 'Serverless-SQSRedrivePolicy',
      reason: 'It is where dead letters end.',
    });
  }
}
