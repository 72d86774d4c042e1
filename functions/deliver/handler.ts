import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { queueMessageSchema } from '../../core/records/delivery.ts';
import { deliverMessage } from '../../core/delivery/deliver.ts';
import type { DeliverFunctionDeps } from './dependencies.ts';

/** Maximum visibility timeout, in seconds. SQS limits it to 12 hours from the receipt. */
const maxVisibilitySeconds = 43_000;

/** Returns the visibility timeout, in whole seconds, rounded up: an early message only waits again. */
export function visibilitySeconds(seconds: number): number {
  return Math.min(maxVisibilitySeconds, Math.max(0, Math.ceil(seconds)));
}

/**
 * Returns the backoff after an internal error: 1, 2, 4, … 60 s, until the message moves to the dead-letter queue.
 */
export function backoffSeconds(timesReceived: number): number {
  return Math.min(60, 2 ** Math.max(0, timesReceived - 1));
}

/** Marks a message for retry: it blocks its message group until it is due. */
class RetryMessageError extends Error {}

/**
 * Creates the handler: delivers queue messages. Reports retries as batch item failures, with a visibility timeout until
 * they are due; only later messages of the same group wait. A thrown error would slow polling for all groups.
 */
export function createHandler(deps: DeliverFunctionDeps) {
  const processor = new SqsFifoPartialProcessorAsync();
  return (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    deps.during(context, () =>
      processPartialResponse(event, (record: SQSRecord) => deliverRecord(record, deps), processor, {
        throwOnFullBatchFailure: false,
        skipGroupOnError: true,
      }),
    );
}

async function deliverRecord(record: SQSRecord, deps: DeliverFunctionDeps): Promise<void> {
  const seconds = await attemptDelivery(record, deps);
  if (seconds === undefined) return;
  try {
    await deps.postpone(record.receiptHandle, seconds);
  } catch (error) {
    // The message returns after the default visibility timeout of the queue, which is longer.
    deps.log.warning('Setting the visibility timeout failed', { error: String(error) });
  }
  throw new RetryMessageError();
}

/** Delivers a message and returns the delay until its retry, in seconds; undefined if the delivery ended. */
async function attemptDelivery(record: SQSRecord, deps: DeliverFunctionDeps): Promise<number | undefined> {
  try {
    const outcome = await deliverMessage(queueMessageSchema.parse(JSON.parse(record.body)), deps);
    return outcome.kind === 'done' ? undefined : visibilitySeconds(outcome.afterSeconds);
  } catch (error) {
    const received = Number(record.attributes.ApproximateReceiveCount);
    deps.log.error('Delivery message failed, returned to the queue', {
      message_id: record.messageId,
      received,
      error: String(error),
    });
    return backoffSeconds(received);
  }
}
