import { asJob } from '../records/run.ts';
import type { KeyCrypto } from '../access/api-key.ts';
import type { CoreDeps } from '../dependencies.ts';
import { rules } from '../rules.ts';
import { addSeconds } from '../time.ts';
import { IdempotencyKeyReusedError, WatchpostError } from '../errors.ts';
import type { Job, JobPolicy } from '../records/job.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';

type Deps = Pick<CoreDeps, 'runs' | 'jobs' | 'now'> & Pick<KeyCrypto, 'sha256'>;

/**
 * `request` is the parsed body, or the job that runs again: another order of fields, or an explicit default, is the
 * same request.
 */
export type KeyedRequest = { key: string | undefined; kind: JobPolicy | 'run-again'; request: object };

/**
 * Creates a job once per idempotency key of a caller. A repeated request returns that job in its current state, without
 * a probe of the stream. After a refusal the key is read again: a concurrent request with the same key may have created
 * the job meanwhile. Until then both share one reserved slot (`JobStore.reserveSlot`). Throws
 * `IdempotencyKeyReusedError` for another request, and the errors of `create`.
 */
export async function createIdempotently<Created extends Job>(
  { key, kind, request }: KeyedRequest,
  caller: string,
  deps: Deps,
  create: (idempotency?: IdempotencyRecord) => Promise<Created>,
): Promise<Job> {
  if (key === undefined) return create();
  const requestHash = deps.sha256(JSON.stringify([kind, Object.entries(request).toSorted(byName)]));
  const record = { key, requestHash, expiresAt: addSeconds(deps.now(), rules.idempotencyKeySeconds) };
  const earlier = await findEarlier(record, caller, deps);
  if (earlier !== undefined) return earlier;
  try {
    return await create(record);
  } catch (error) {
    const winner = await findEarlier(record, caller, deps);
    if (winner === undefined) throw error;
    return winner;
  }
}

async function findEarlier(
  { key, requestHash }: IdempotencyRecord,
  caller: string,
  { runs, jobs, now }: Deps,
): Promise<Job | undefined> {
  const earlier = await jobs.findByIdempotencyKey(caller, key, now());
  if (earlier === undefined) return undefined;
  if (earlier.requestHash !== requestHash) throw new IdempotencyKeyReusedError();
  const job = asJob(await runs.get(earlier.runId, now()));
  if (job === undefined) throw jobGone();
  return job;
}

/** Creates the error for a key whose job has expired: the key prevents a second job. */
function jobGone(): WatchpostError {
  return new WatchpostError(
    'JOB_NOT_FOUND',
    'Job not found',
    'The job that this Idempotency-Key made has ended and is no longer kept. Use a new key to start another.',
  );
}

function byName([first]: [string, unknown], [second]: [string, unknown]): number {
  return first < second ? -1 : 1;
}
