import { ChangeMessageVisibilityCommand } from '@aws-sdk/client-sqs';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { failed } from './platform-error.ts';

/** Says when a message that was received comes again; until then its group waits. */
export type Postpone = (receiptHandle: string, seconds: number) => Promise<void>;

export function createPostpone(client: SQSClient, queueUrl: string): Postpone {
  return async (receiptHandle, seconds) => {
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    });
    await client.send(command).catch(failed);
  };
}

/** SQS keeps a message invisible for 12 hours in all, counted from its receipt. */
const mostSeconds = 43_000;

/** Whole seconds, rounded up: a message that comes early only waits again. */
export function visibilitySeconds(seconds: number): number {
  return Math.min(mostSeconds, Math.max(0, Math.ceil(seconds)));
}

/** After a fault of our own: 1, 2, 4, … 60 s, until the queue gives the message to its dead letters. */
export function backoffSeconds(timesReceived: number): number {
  return Math.min(60, 2 ** Math.max(0, timesReceived - 1));
}
