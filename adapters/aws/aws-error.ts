import { TransientError } from '../../core/errors.ts';

/**
 * Maps an SDK error after its retries to `TransientError` if a retry may succeed: throttling, 5xx, broken
 * connection, timeout. Returns any other error unchanged, such as a missing permission or resource.
 */
export function toCoreError(error: unknown): unknown {
  if (!(error instanceof Error) || !passes(error)) return error;
  return new TransientError(`AWS request failed (${error.name})`, { cause: error });
}

/** Throws the mapped error, for `.catch(failed)`. */
export function throwCoreError(error: unknown): never {
  throw toCoreError(error);
}

function passes(error: Error): boolean {
  if (throttles.has(error.name) || interruptions.has(error.name)) return true;
  const status = readStatus(error);
  if (status !== undefined) return status >= 500 || status === 429;
  return isInterrupted(error);
}

function readStatus(error: object): number | undefined {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** Returns true for a code such as `ECONNRESET`, `ENOTFOUND` or `EPIPE`: the request was interrupted. */
function isInterrupted(error: object): boolean {
  return 'code' in error && typeof error.code === 'string' && /^E[A-Z_]+$/.test(error.code);
}

/**
 * Error names of throttling and of conflicts that a service documents as retryable
 * (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html).
 */
const throttles = new Set([
  'ItemCollectionSizeLimitExceededException',
  'KmsThrottled',
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'ReplicatedWriteConflictException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'SlowDown',
  'ThrottledException',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionConflictException',
  'TransactionInProgressException',
]);

const interruptions = new Set(['TimeoutError', 'AbortError', 'RequestTimeout', 'RequestTimeoutException']);
