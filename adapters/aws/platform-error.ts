import { TransientError } from '../../core/errors.ts';

/**
 * What an AWS client threw after its own retries, as the core may see it: `TransientError` for what passes (throttling, 5xx, a broken
 * connection, no time left), the error itself for the rest (no right, no such resource), which no repetition cures.
 */
export function platformError(error: unknown): unknown {
  if (!(error instanceof Error) || !passes(error)) return error;
  return new TransientError(`AWS did not answer as it should (${error.name})`, { cause: error });
}

/** For `.catch(failed)`. */
export function failed(error: unknown): never {
  throw platformError(error);
}

function passes(error: Error): boolean {
  if (throttles.has(error.name) || interruptions.has(error.name)) return true;
  const status = statusOf(error);
  if (status !== undefined) return status >= 500 || status === 429;
  return codeOf(error) !== undefined;
}

function statusOf(error: object): number | undefined {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** `ECONNRESET`, `ENOTFOUND`, `EPIPE` …: the request did not reach its end. */
function codeOf(error: object): string | undefined {
  return 'code' in error && typeof error.code === 'string' && /^E[A-Z_]+$/.test(error.code)
    ? error.code
    : undefined;
}

const throttles = new Set([
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'RequestThrottled',
  'RequestLimitExceeded',
  'SlowDown',
  'KmsThrottled',
]);

const interruptions = new Set(['TimeoutError', 'AbortError', 'RequestTimeout', 'RequestTimeoutException']);
