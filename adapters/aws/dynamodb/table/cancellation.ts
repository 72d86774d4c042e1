import { z } from 'zod';

/** Reason of a transaction that did nothing, or whose result is unknown. */
export type Cancellation =
  /** A condition failed. `refused` has one entry per write, in order. */
  | { kind: 'refused'; refused: boolean[] }
  /** Another transaction held an item, or capacity was exceeded. */
  | { kind: 'collided' }
  /** The same request was sent before and is still running. */
  | { kind: 'under_way' };

/**
 * Reads the reason of a cancelled transaction. Returns undefined for other errors. A failed condition takes
 * precedence over a conflict, because conditions are evaluated on committed data.
 */
export function readCancellation(error: unknown): Cancellation | undefined {
  const read = cancelledSchema.safeParse(error);
  if (!read.success) return isTransactionConflict(error) ? { kind: 'under_way' } : undefined;
  const codes = read.data.CancellationReasons.map(({ Code }) => Code ?? 'None');
  const refused = codes.map((code) => code === 'ConditionalCheckFailed');
  if (refused.includes(true)) return { kind: 'refused', refused };
  return codes.some((code) => passing.has(code)) ? { kind: 'collided' } : undefined;
}

/** Returns true if a transaction held the item of a single write. */
export function isTransactionConflict(error: unknown): boolean {
  return (
    errorName(error) === 'TransactionConflictException' ||
    errorName(error) === 'TransactionInProgressException'
  );
}

/** Returns true if the condition of a single write failed. */
export function isConditionFailure(error: unknown): boolean {
  return errorName(error) === 'ConditionalCheckFailedException';
}

function errorName(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined;
}

const cancelledSchema = z.object({
  name: z.literal('TransactionCanceledException'),
  CancellationReasons: z.array(z.object({ Code: z.string().optional() })),
});

/**
 * Cancellation reasons that a retry may resolve
 * (docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html).
 */
const passing = new Set(['TransactionConflict', 'ProvisionedThroughputExceeded', 'ThrottlingError']);
