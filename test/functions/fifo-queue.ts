import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { deduplicationId, messageGroup, type QueueMessage } from '../../core/records/delivery.ts';
import { lambdaContext } from './lambda-context.ts';

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;
type Held = {
  id: string;
  group: string;
  deduplication: string;
  body: string;
  visibleAtMs: number;
  received: number;
};

/** Maximum receives, as in the stack: far more than the attempts of a delivery. */
const maxReceives = 30;
/** Default visibility timeout of the queue, in seconds. */
const visibilityMs = 120_000;

/**
 * Simulates SQS FIFO with its event source mapping, as AWS documents it: a group has one message in flight; a failed
 * message blocks it until visible; other messages are deleted; after too many receives a message moves to the
 * dead-letter queue.
 */
export function createFifoQueue(clock: { now: Date }) {
  let held: Held[] = [];
  const dead: string[] = [];
  const seen = new Set<string>();
  const receipts = new Map<string, Held>();

  function heads(): Held[] {
    const groups = new Set<string>();
    return held.filter(({ group, visibleAtMs }) => {
      const isHead = !groups.has(group);
      groups.add(group);
      return isHead && visibleAtMs <= clock.now.getTime();
    });
  }

  async function handOut(message: Held, handler: Handler): Promise<void> {
    message.received += 1;
    message.visibleAtMs = clock.now.getTime() + visibilityMs;
    if (message.received > maxReceives) {
      dead.push(message.body);
      held = held.filter((other) => other !== message);
      return;
    }
    const receipt = `${message.id}-${message.received}`;
    receipts.set(receipt, message);
    const { batchItemFailures } = await handler(sqsEvent(message, receipt), lambdaContext());
    const isFailed = batchItemFailures.some(({ itemIdentifier }) => itemIdentifier === message.id);
    if (!isFailed) held = held.filter((other) => other !== message);
  }

  return {
    dead,
    waiting: () => held.length,
    sendText: (body: string, group: string, deduplication: string = body) => {
      if (seen.has(deduplication)) return;
      seen.add(deduplication);
      held.push({ id: `m${seen.size}`, group, deduplication, body, visibleAtMs: 0, received: 0 });
    },
    send(message: QueueMessage): void {
      this.sendText(JSON.stringify(message), messageGroup(message), deduplicationId(message));
    },
    postpone: async (receipt: string, seconds: number) => {
      const message = receipts.get(receipt);
      if (message) message.visibleAtMs = clock.now.getTime() + seconds * 1000;
    },
    /** Advances the clock second by second and delivers each message when it becomes visible. */
    pass: async (seconds: number, handler: Handler) => {
      for (let second = 0; second <= seconds; second += 1) {
        for (let due = heads(); due.length > 0; due = heads())
          await Promise.all(due.map((message) => handOut(message, handler)));
        if (second < seconds) clock.now = new Date(clock.now.getTime() + 1000);
      }
    },
  };
}

/** Returns the event that Lambda sends for a message of a FIFO queue. */
export function sqsEvent(
  { id, group, deduplication, body, received }: Omit<Held, 'visibleAtMs'>,
  receiptHandle: string,
): SQSEvent {
  const attributes = {
    ApproximateReceiveCount: String(received),
    SentTimestamp: '1573251510774',
    SequenceNumber: '18849496460467696128',
    MessageGroupId: group,
    SenderId: 'AIDAIO23YVJENQZJOL4VO',
    MessageDeduplicationId: deduplication,
    ApproximateFirstReceiveTimestamp: '1573251510774',
  };
  return {
    Records: [
      {
        messageId: id,
        receiptHandle,
        body,
        attributes,
        messageAttributes: {},
        md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:eu-west-1:123456789012:deliveries.fifo',
        awsRegion: 'eu-west-1',
      },
    ],
  };
}
