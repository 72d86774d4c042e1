import { Duration } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { DeadLetterQueue } from './dead-letter-queue.ts';

/** Events on their way to webhooks: in order for a job, and no job waits for another. What cannot be handled at all ends in `deadLetters`. */
export class DeliveryQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.deadLetters = new DeadLetterQueue(this, 'DeadLetters', { fifo: true });
    this.queue = new Queue(this, 'Queue', {
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // Two attempts' worth: a message whose function died comes again while its event still matters.
      visibilityTimeout: Duration.seconds(2 * attemptSeconds),
      // 3,000 messages a second and more instead of 300; each job is a group.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      // A series is four attempts, which the delivery itself counts. The rest is for faults of ours, a minute apart (`backoffSeconds`): an hour of them, as long
      // as an event is worth sending.
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 75 },
    });
  }
}

/** A receiver has 30 s from connect to headers; the rest is for reading secret and picture, and for writing down what came of it. */
export const attemptSeconds = 60;
