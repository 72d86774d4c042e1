import { wait, type SetTimer } from '../../../../core/time-limit.ts';
import { busyWaitsMs } from '../../../egress/busy-waits.ts';
import { RtspStatusError } from '../protocol/errors.ts';

/** Connects again after a failure with the status 503. Throws the last failure, any other one, and the abort reason. */
export async function retryBusy<Result>(
  failure: unknown,
  connect: () => Promise<Result>,
  setTimer: SetTimer,
  signal: AbortSignal,
): Promise<Result> {
  let last = failure;
  for (const waitMs of busyWaitsMs) {
    if (!hasStatus(last, [503])) break;
    await wait(waitMs, setTimer, signal);
    try {
      return await connect();
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Returns true for a failure whose cause is a response with one of these statuses. */
export function hasStatus(error: unknown, statuses: readonly number[]): boolean {
  return (
    error instanceof Error && error.cause instanceof RtspStatusError && statuses.includes(error.cause.status)
  );
}
