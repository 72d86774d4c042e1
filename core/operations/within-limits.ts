import type { Collaborators } from '../collaborators.ts';
import { RateLimitedError } from '../errors.ts';
import type { Admission } from '../ports/call-limiter.ts';

/** Makes a call that is answered at once, if the caller's limits allow it. Throws `RateLimitedError`, and what the call throws. */
export async function withinLimits<Answer>(
  caller: string,
  c: Pick<Collaborators, 'calls'>,
  call: () => Promise<Answer>,
): Promise<Answer> {
  const admission = await c.calls.admit(caller);
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
    ? `You may make ${refused.most} such calls a minute: ${wait}. To watch a stream go on, use POST /live-monitor.`
    : `You may have ${refused.most} such calls under way at once: wait for one to be answered, or ${wait}.`;
}
