import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { deduplicationId, messageGroup } from '../../core/records/delivery.ts';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import { throwCoreError } from './aws-error.ts';
import { clientSettings } from './client-settings.ts';

/** SQS client (default: one of its own) and URL of the FIFO queue; `hasBus` as in `DeliveryQueue`. */
export type DeliveryQueueOptions = { client?: SQSClient; queueUrl: string; hasBus?: boolean };

/** The host of a queue URL is that of the region, also with FIPS endpoints: the client must keep its endpoint. */
const queueSettings = { ...clientSettings, useQueueUrlAsEndpoint: false };

/** Queue whose received messages can be postponed. */
export type SqsQueue = DeliveryQueue & {
  /** Sets the visibility timeout of a received message; its message group is blocked until then. */
  postpone: (receiptHandle: string, seconds: number) => Promise<void>;
};

/**
 * Creates the delivery queue on SQS FIFO. Its message groups (`messageGroup`) keep first attempts in order. Messages
 * are deduplicated for five minutes.
 */
export function createDeliveryQueue({
  client = new SQSClient(queueSettings),
  queueUrl,
  hasBus = false,
}: DeliveryQueueOptions): SqsQueue {
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
    postpone: async (receiptHandle, seconds) => {
      const command = new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      });
      await client.send(command).catch(throwCoreError);
    },
  };
}
