import type { CoreDeps } from '../dependencies.ts';
import { RateLimitedError } from '../errors.ts';
import type { Admission } from '../ports/call-limiter.ts';

/**
 * Runs a call that sends requests to other machines, within the caller's limits. Throws `RateLimitedError`, and the
 * errors of the call.
 */
export async function withCallLimit<Answer>(
  caller: string,
  deps: Pick<CoreDeps, 'calls'>,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const admission = await deps.calls.admit(caller);
  if (admission.kind === 'refused')
    throw new RateLimitedError(remediation(admission), admission.retryAfterSeconds);
  try {
    return await call();
  } finally {
    await admission.release();
  }
}

function remediation(refused: Extract<Admission, { kind: 'refused' }>): string {
  const calls = 'that check streams, start jobs, send webhooks or ask for advice';
  return refused.limit === 'per minute'
    ? `Try again in ${refused.retryAfterSeconds} s: a caller may make ${refused.max} calls per minute ${calls}. To check a stream repeatedly, use one job.`
    : `Wait for a response, or try again in ${refused.retryAfterSeconds} s: a caller may have ${refused.max} concurrent calls ${calls}.`;
}
