import { Duration, Validations } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { queueEncryption } from '../storage/service-key.ts';

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

/**
 * FIFO queue of deliveries. A message group per destination and subject keeps first attempts in order; each delivery
 * that failed has a group of its own.
 */
export class DeliveryQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { fifo: true });
    this.queue = new Queue(this, 'Queue', {
      fifo: true,
      ...queueEncryption(this),
      enforceSSL: true,
      // Two attempts: a message whose function crashed returns while its event is still relevant.
      visibilityTimeout: Duration.seconds(2 * attemptSeconds),
      // At least 3,000 messages per second instead of 300; there are many message groups.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      // The delivery counts its attempts. A message that waits for others and then for its own attempts is received
      // about 50 times; a defect reaches the number in about an hour (`backoffSeconds`), as long as an event of a job
      // is relevant.
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 75 },
    });
  }
}

/**
 * Timeout of one attempt, in seconds: 30 for the receiver, the rest to read secret and image and to store the result.
 */
export const attemptSeconds = 60;
