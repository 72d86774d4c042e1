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
