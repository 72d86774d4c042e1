import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { deduplicationId, messageGroup } from '../../core/records/delivery.ts';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import { throwCoreError } from './aws-error.ts';

/** SQS client and URL of the FIFO queue; `hasBus` as in `DeliveryQueue`. */
export type DeliveryQueueOptions = { client: SQSClient; queueUrl: string; hasBus?: boolean };

/**
 * Creates the delivery queue on SQS FIFO. One message group per job keeps first attempts in order and blocks no other
 * job. Messages are deduplicated for five minutes.
 */
export function createDeliveryQueue({
  client,
  queueUrl,
  hasBus = false,
}: DeliveryQueueOptions): DeliveryQueue {
  return {
    hasBus,
    send: async (message) => {
      const command = new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        MessageGroupId: messageGroup(message),
        MessageDeduplicationId: deduplicationId(message),
      });
      await client.send(command).catch(throwCoreError);
    },
  };
}
