import { z } from 'zod';
import { TransientError } from '../../../core/errors.ts';

/** A stored record that cannot be read: a defect of ours, which no repetition cures. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/**
 * What the SDK threw, as the core may see it: `TransientError` for what passes by itself (throttling, a fault of the service,
 * a broken or slow line; the SDK has tried three times by then). All else comes back as it is: missing rights, a missing table, a request that is wrong.
 */
export function storageError(error: unknown): unknown {
  const read = sdkErrorSchema.safeParse(error);
  if (!read.success || !isPassing(read.data)) return error;
  return new TransientError(`DynamoDB did not answer: ${read.data.name}`, { cause: error });
}

const sdkErrorSchema = z.object({
  name: z.string(),
  code: z.string().optional().catch(undefined),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional(),
});

function isPassing({ name, code, $metadata }: z.output<typeof sdkErrorSchema>): boolean {
  return passingNames.has(name) || passingCodes.has(code ?? '') || ($metadata?.httpStatusCode ?? 0) >= 500;
}

/** docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html: those that are "OK to retry". */
const passingNames = new Set([
  'ItemCollectionSizeLimitExceededException',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'ReplicatedWriteConflictException',
  'RequestLimitExceeded',
  'RequestTimeout',
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

const passingCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
]);
