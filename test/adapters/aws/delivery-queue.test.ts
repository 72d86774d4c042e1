import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { webhookMessage } from '../../contract/records.ts';
import { createDeliveryQueue } from '../../../adapters/aws/delivery-queue.ts';
import { backoffSeconds, visibilitySeconds } from '../../../functions/deliver/handler.ts';
import { TransientError } from '../../../core/errors.ts';

const client = new SQSClient({ region: 'eu-west-1' });
const sqs = mockClient(client);
const queueUrl = 'https://sqs.eu-west-1.amazonaws.com/123456789012/deliveries.fifo';
const queue = createDeliveryQueue({ client, queueUrl });
const message = { ...webhookMessage('0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', 4), resend: 1 };

beforeEach(() => void sqs.reset());

describe('delivery queue on SQS FIFO', () => {
  test('messages are grouped by job and deduplicated by event and resend', async () => {
    sqs.on(SendMessageCommand).resolves({});

    await queue.send(message);

    expect(sqs.commandCalls(SendMessageCommand)[0]?.args[0].input).toEqual({
      QueueUrl: queueUrl,
      MessageBody: JSON.stringify(message),
      MessageGroupId: `${message.run_id}:webhook:log`,
      MessageDeduplicationId: `${message.run_id}:webhook:4:1:0`,
    });
  });

  test('a broken connection is a TransientError', async () => {
    sqs.on(SendMessageCommand).rejects(Object.assign(new Error('read'), { code: 'ECONNRESET' }));

    await expect(queue.send(message)).rejects.toThrow(TransientError);
  });

  test('a message is delayed by its visibility timeout', async () => {
    sqs.on(ChangeMessageVisibilityCommand).resolves({});

    await queue.postpone('receipt', 25);

    expect(sqs.commandCalls(ChangeMessageVisibilityCommand)[0]?.args[0].input).toEqual({
      QueueUrl: queueUrl,
      ReceiptHandle: 'receipt',
      VisibilityTimeout: 25,
    });
  });
});

describe('visibilitySeconds', () => {
  test('the visibility timeout is in whole seconds, rounded up, 0 to 43,000', () => {
    expect([4.001, 5, -3, 10 ** 6].map(visibilitySeconds)).toEqual([5, 5, 0, 43_000]);
  });

  test('the timeout doubles after each internal error, up to one minute', () => {
    expect([0, 1, 2, 5, 7, 40].map(backoffSeconds)).toEqual([1, 1, 2, 16, 60, 60]);
  });
});
