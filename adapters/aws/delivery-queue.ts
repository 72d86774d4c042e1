import { deduplicationId, messageGroup } from '../../core/records/delivery.ts';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import { throwCoreError } from './aws-error.ts';
import type { JsonCall } from './requests/json-calls.ts';

/** Calls of SQS and URL of the FIFO queue; `hasBus` as in `DeliveryQueue`. */
export type DeliveryQueueOptions = { sqs: JsonCall; queueUrl: string; hasBus?: boolean };

/**
 * Creates the delivery queue on SQS FIFO. One message group per job keeps first attempts in order and blocks no other
 * job. Messages are deduplicated for five minutes.
 */
export function createDeliveryQueue({ sqs, queueUrl, hasBus = false }: DeliveryQueueOptions): DeliveryQueue {
  return {
    hasBus,
    send: async (message) => {
      const call = sqs('SendMessage', {
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        MessageGroupId: messageGroup(message),
        MessageDeduplicationId: deduplicationId(message),
      });
      await call.catch(throwCoreError);
    },
  };
}
