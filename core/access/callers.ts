import { newCaller, type Caller } from '../records/caller.ts';
import type { CoreDeps } from '../dependencies.ts';
import type { CallerRequest } from '../requests/keys.ts';
import type { z } from 'zod';
import { ForbiddenError, WatchpostError } from '../errors.ts';
import type { CallerWork } from '../ports/callers.ts';
import type { erasureResponseSchema } from '../responses/access.ts';
import { isAdmin, type Actor } from './keys.ts';

type Deps = Pick<CoreDeps, 'callers' | 'now'>;

/** Adds a caller, or returns the existing one unchanged. Repeatable. */
export async function addCaller({ caller, label }: CallerRequest, deps: Deps): Promise<Caller> {
  const added = newCaller(caller, label, deps.now());
  await deps.callers.add(added);
  return (await deps.callers.find(caller)) ?? added;
}

/** Returns a page of callers by name. `next_after` is the start of the next page, `null` on the last. */
export async function listCallers(after: string, limit: number, deps: Deps) {
  const page = await deps.callers.list(after, limit + 1);
  const callers = page.slice(0, limit);
  return {
    callers: callers.map(presentCaller),
    next_after: page.length > limit ? (callers.at(-1)?.caller ?? null) : null,
  };
}

export function presentCaller({ caller, label, created_at }: Caller) {
  return { caller, label, created_at };
}

type EraseDeps = Pick<CoreDeps, 'callers' | 'eraser' | 'executions' | 'media' | 'recentLog' | 'log' | 'now'>;

export type Erasure = z.infer<typeof erasureResponseSchema>;

/**
 * Time after which an erasure begins no further job or watch, in milliseconds; below the 29 s of the HTTP API with the
 * removal in progress.
 */
const maxErasureMs = 15_000;
const workAtOnce = 20;
/** Media of one work that are removed before the time is read again: five requests of S3. */
const mediaAtOnce = 5000;

/**
 * Removes everything that is stored for a caller: keys, jobs, watches, media, events, alerts, deliveries, usage. Takes
 * at most some seconds; repeat it until it is complete. Throws `ForbiddenError` without the scope `admin` and for the
 * actor's own caller, and `NOT_FOUND`.
 */
export async function eraseCaller(actor: Actor, caller: string, deps: EraseDeps): Promise<Erasure> {
  if (actor.caller !== null && !isAdmin(actor)) throw new ForbiddenError('Use a key with the scope "admin".');
  if (actor.caller === caller)
    throw new ForbiddenError('Use an admin key of another caller: this one would remove itself.');
  const isKnown = (await deps.callers.find(caller)) !== undefined;
  const done: Erasure = { caller, complete: false, keys: 0, jobs: 0, watches: 0, media: 0 };
  done.keys = await deps.eraser.removeKeys(caller);
  const until = deps.now().getTime() + maxErasureMs;
  const removed = new Set<string>();
  for (;;) {
    const listed = await deps.eraser.listWork(caller, workAtOnce);
    // A list can lag behind a removal.
    const left = listed.filter(({ id }) => !removed.has(id));
    if (left.length === 0) {
      // An admin may have created a key for the caller meanwhile, which could create more work.
      const keys = await deps.eraser.removeKeys(caller);
      done.keys += keys;
      if (keys === 0) break;
    }
    for (const work of left) {
      if (deps.now().getTime() >= until) return done;
      const { media, isWhole } = await eraseWork(caller, work, until, deps);
      done.media += media;
      if (!isWhole) return done;
      done[work.kind === 'job' ? 'jobs' : 'watches'] += 1;
      removed.add(work.id);
    }
  }
  if (!isKnown && done.keys + removed.size === 0)
    throw new WatchpostError('NOT_FOUND', 'No such caller', 'Use a caller from GET /callers.');
  await deps.eraser.removeCaller(caller);
  await deps.recentLog.forget?.({ caller });
  deps.log.info('Caller erased', {
    keys: done.keys,
    jobs: done.jobs,
    watches: done.watches,
    media: done.media,
  });
  return { ...done, complete: true };
}

/**
 * Stops the execution first, so that it stores nothing more, and removes the media until a time: a watch may have more
 * pictures than a request can remove.
 */
async function eraseWork(
  caller: string,
  work: CallerWork,
  until: number,
  deps: EraseDeps,
): Promise<{ media: number; isWhole: boolean }> {
  const execution = { run_id: work.id, generation: work.generation };
  await deps.executions.stop(execution, 'The caller is erased').catch((error: unknown) => {
    deps.log.warning('Execution of an erased caller was not stopped', { error: String(error) });
  });
  let media = 0;
  for (let removed = mediaAtOnce; removed >= mediaAtOnce; media += removed) {
    if (deps.now().getTime() >= until) return { media, isWhole: false };
    removed = await deps.media.removeOfSource(work.sourceId, mediaAtOnce);
  }
  await deps.eraser.removeWork(caller, work);
  // A clip that was ready meanwhile was stored for a watch that was still there.
  media += await deps.media.removeOfSource(work.sourceId, mediaAtOnce).catch((error: unknown) => {
    // Not an error: with its records gone, a repeated erasure would not find this work.
    deps.log.warning('Media of an erased caller may be left', { run_id: work.id, error: String(error) });
    return 0;
  });
  await deps.recentLog.forget?.({ id: work.id });
  return { media, isWhole: true };
}
