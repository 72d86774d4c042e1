/**
 * Invokes a function and returns its JSON result. Throws `TransientError` for AWS errors, and `InvocationError`.
 */
export type Invoke = (payload: object, signal: AbortSignal) => Promise<unknown>;

/**
 * Invokes a function asynchronously: Lambda queues the event, and repeats it twice if it fails. Throws
 * `TransientError`.
 */
export type InvokeLater = (functionArn: string, payload: object) => Promise<void>;

/** Error for a function that failed with an unexpected error. Its own log contains the cause. */
export class InvocationError extends Error {
  override readonly name = 'InvocationError';
}

/** Maximum payload in bytes, below Lambda's limit of 6,291,556 bytes for synchronous invocations. */
export const maxInvokePayloadBytes = 6_000_000;
