import { z } from 'zod';

/** Why a transaction did nothing, or is not known to have done anything. */
export type Cancellation =
  /** For each write, in their order, whether its condition was not met. */
  | { kind: 'refused'; refused: boolean[] }
  /** Another transaction held an item, or there was no room for this one now. */
  | { kind: 'collided' }
  /** The same request, sent before, is not done yet. */
  | { kind: 'under_way' };

/**
 * Tells apart why a transaction was cancelled; undefined for errors that are none of these. A condition that was not met is an
 * answer, also where another item was held at the time: conditions are judged on what is committed.
 */
export function cancellationOf(error: unknown): Cancellation | undefined {
  const read = cancelledSchema.safeParse(error);
  if (!read.success) return isInTheWay(error) ? { kind: 'under_way' } : undefined;
  const codes = read.data.CancellationReasons.map(({ Code }) => Code ?? 'None');
  const refused = codes.map((code) => code === 'ConditionalCheckFailed');
  if (refused.includes(true)) return { kind: 'refused', refused };
  return codes.some((code) => passing.has(code)) ? { kind: 'collided' } : undefined;
}

/** For what is no transaction: a transaction held the item at that moment. */
export function isInTheWay(error: unknown): boolean {
  return (
    nameOf(error) === 'TransactionConflictException' || nameOf(error) === 'TransactionInProgressException'
  );
}

export function isConditionFailure(error: unknown): boolean {
  return nameOf(error) === 'ConditionalCheckFailedException';
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

const cancelledSchema = z.object({
  name: z.literal('TransactionCanceledException'),
  CancellationReasons: z.array(z.object({ Code: z.string().optional() })),
});

/** docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html, cancellation reasons that pass by themselves. */
const passing = new Set(['TransactionConflict', 'ProvisionedThroughputExceeded', 'ThrottlingError']);
