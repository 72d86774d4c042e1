import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { backoffSeconds, visibilitySeconds } from '../../adapters/aws/message-visibility.ts';
import { deliveryMessageSchema } from '../../core/delivery.ts';
import { deliverEvent } from '../../core/operations/deliver-event.ts';
import type { DeliverDependencies } from './dependencies.ts';

/** Not a fault: the message stays at the head of its job until it is due. */
class ComesAgain extends Error {}

/**
 * Delivers what the queue hands out. A message that is wanted again, or that failed, is reported as such and made visible when it is due; those of its
 * job behind it wait, those of other jobs do not. Reported rather than thrown: errors would make Lambda poll the queue more slowly, for everybody.
 */
export function createHandler(c: DeliverDependencies) {
  const processor = new SqsFifoPartialProcessorAsync();
  return (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    c.during(context, () =>
      processPartialResponse(event, (record: SQSRecord) => take(record, c), processor, {
        throwOnFullBatchFailure: false,
        skipGroupOnError: true,
      }),
    );
}

async function take(record: SQSRecord, c: DeliverDependencies): Promise<void> {
  const seconds = await secondsToWait(record, c);
  if (seconds === undefined) return;
  try {
    await c.postpone(record.receiptHandle, seconds);
  } catch (error) {
    // It comes again after the queue's own time, which is longer.
    c.log.warning('A message was not postponed', { error: String(error) });
  }
  throw new ComesAgain();
}

/** undefined: the message is done with. */
async function secondsToWait(record: SQSRecord, c: DeliverDependencies): Promise<number | undefined> {
  try {
    const outcome = await deliverEvent(deliveryMessageSchema.parse(JSON.parse(record.body)), c);
    return outcome.kind === 'done' ? undefined : visibilitySeconds(outcome.afterSeconds);
  } catch (error) {
    const received = Number(record.attributes.ApproximateReceiveCount);
    c.log.error('A delivery was not handled, and comes again', {
      message_id: record.messageId,
      received,
      error: String(error),
    });
    return backoffSeconds(received);
  }
}
