import type { CoreDeps } from '../dependencies.ts';
import { RateLimitedError } from '../errors.ts';
import type { Admission } from '../ports/call-limiter.ts';

/** Makes a call that costs work on other machines, if the caller's limits allow it. Throws `RateLimitedError`, and what the call throws. */
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
  const wait = `try again in ${refused.retryAfterSeconds} s`;
  return refused.limit === 'per minute'
    ? `A caller may make ${refused.max} calls per minute that check streams, start jobs or send webhooks: ${wait}. To check a stream repeatedly, use one job.`
    : `A caller may have ${refused.max} calls under way that check streams, start jobs or send webhooks: wait for an answer, or ${wait}.`;
}
