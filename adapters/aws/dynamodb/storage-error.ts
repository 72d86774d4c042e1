import { z } from 'zod';
import { TransientError } from '../../../core/errors.ts';

/** Error for an unreadable stored record: a defect, which no retry resolves. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
}

/**
 * Maps an SDK error to `TransientError` if a retry may succeed: throttling, service fault, broken or slow
 * connection. The SDK has made three attempts before. Returns any other error unchanged: missing permission,
 * missing table, invalid request.
 */
export function storageError(error: unknown): unknown {
  const read = sdkErrorSchema.safeParse(error);
  if (!read.success || !isPassing(read.data)) return error;
  return new TransientError(`DynamoDB request failed: ${read.data.name}`, { cause: error });
}

const sdkErrorSchema = z.object({
  name: z.string(),
  code: z.string().optional().catch(undefined),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional(),
});

function isPassing({ name, code, $metadata }: z.output<typeof sdkErrorSchema>): boolean {
  return passingNames.has(name) || passingCodes.has(code ?? '') || ($metadata?.httpStatusCode ?? 0) >= 500;
}

/**
 * Error names that AWS documents as retryable
 * (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html).
 */
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
