import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DeliveryMessage } from '../../core/delivery.ts';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import { failed } from './platform-error.ts';

export type DeliveryQueueOptions = { client: SQSClient; queueUrl: string };

/** SQS FIFO: one group a job, so that its events stay in order and no job waits for another; repetitions within five minutes arrive once. */
export function createDeliveryQueue({ client, queueUrl }: DeliveryQueueOptions): DeliveryQueue {
  return {
    send: async (message) => {
      const command = new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: JSON.stringify(message),
        MessageGroupId: message.job_id,
        MessageDeduplicationId: deduplicationId(message),
      });
      await client.send(command).catch(failed);
    },
  };
}

function deduplicationId({ job_id, sequence, resend }: DeliveryMessage): string {
  return `${job_id}:${sequence}:${resend}`;
}
