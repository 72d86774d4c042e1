import type { CoreDeps } from '../dependencies.ts';
import { AlertNotFoundError, DiskFullError, StreamError, WatchNotFoundError } from '../errors.ts';
import type { DeliveryOutcome } from '../ports/delivery.ts';
import { runLog } from '../ports/observability.ts';
import type { RunStore } from '../ports/runs.ts';
import { withoutClip } from '../records/clip.ts';
import type { AlertClip, ClipRequest, ClipResult, MakeClip } from '../records/clip.ts';
import type { ClipMessage } from '../records/delivery.ts';
import type { Source } from '../records/job.ts';
import type { StreamCapturer } from '../ports/stream-capturer.ts';
import { asWatch, isWatchEvent } from '../records/run.ts';
import type { Watch } from '../records/watch.ts';
import type { Alert } from '../records/watch-state.ts';
import { findClipBegin } from '../policies/watch/clip-begin.ts';
import { evidenceDays, toClipKey } from '../policies/watch/evidence.ts';
import { createTimeLimit } from '../time-limit.ts';
import { addSeconds, isOver } from '../time.ts';
import { changeStoredWatch } from './commit-watch.ts';

export type RecordClipDeps = Pick<CoreDeps, 'media' | 'log' | 'now'> & {
  runs: RunStore;
  makeClip: MakeClip;
  /** Maximum time of one attempt, in seconds; default 90, shorter than its message is invisible on one machine. */
  attemptSeconds?: number;
};

const done: DeliveryOutcome = { kind: 'done' };

/**
 * Handles a message of an opening whose watch wants a clip: reads what the stream has of it by now, and once that is
 * all, stores it and commits its event. A repetition is safe: an alert that has a clip gets no other, and films that
 * are not that clip are removed.
 */
export async function recordClip(message: ClipMessage, deps: RecordClipDeps): Promise<DeliveryOutcome> {
  const { clip: watchId, sequence } = message;
  const watchBefore = asWatch(await deps.runs.get(watchId, deps.now()));
  const source = watchBefore && (await deps.runs.source(watchBefore.source_id));
  // After its source, so that no change of that is missed.
  const watch = source && asWatch(await deps.runs.get(watchId, deps.now()));
  const event = watch && (await deps.runs.event(watchId, sequence));
  if (!watch || !event || !isWatchEvent(event) || event.type !== 'alert_opened') return done;
  const alert = await deps.runs.alert(event.data.alert_id, deps.now());
  if (!alert) return done;
  const keyFor = (days: number): string => toClipKey(source.source_id, alert.alert_id, days);
  // An attempt that was cut before its commit may have stored its film for the days of then.
  const removeOthers = async (kept: AlertClip | null | undefined): Promise<void> =>
    deps.media.remove(evidenceDays.map(keyFor).filter((each) => each !== kept?.clip_key));
  if (alert.clip || !watch.config.evidence_clip) {
    await removeOthers(alert.clip);
    return done;
  }
  const span = await findSpan(alert, sequence, watch, deps);
  const key = keyFor(watch.config.retention_days);
  const result: ClipResult = span
    ? await tryMake(source, { ...span, key }, deps)
    : { kind: 'none', reason: 'The stream or its regions were changed around the opening' };
  if (result.kind === 'pending') return { kind: 'again', afterSeconds: result.afterSeconds };
  const clip = describeClip(result, key);
  if (clip.reason !== null)
    runLog(deps.log, { run: 'watch', run_id: watchId }).warning('No clip of an alert', {
      alert_id: alert.alert_id,
      reason: clip.reason,
    });
  const stored = await commitClip(alert, clip, sequence, deps).catch((error: unknown) => {
    if (error instanceof WatchNotFoundError || error instanceof AlertNotFoundError) return null;
    throw error;
  });
  // Also for a watch that was deleted meanwhile: this film may be stored after its media were removed.
  await removeOthers(stored);
  return done;
}

/** Creates the making of clips by a reader of streams, on the host that has it. */
export function createMakeClip({
  streams,
  media,
}: Pick<CoreDeps, 'media'> & { streams: Pick<StreamCapturer, 'clip'> }): MakeClip {
  return async ({ key, ...request }, signal) => {
    const store = async (film: Uint8Array) => media.put(key, film, 'video/mp4');
    try {
      const madeClip = await streams.clip?.({ ...request, store }, signal);
      return madeClip ?? { kind: 'none', reason: 'This service makes no clips' };
    } catch (error) {
      if (signal.aborted) return tooLong;
      throw error;
    }
  };
}

const tooLong: ClipResult = { kind: 'none', reason: 'The clip took too long' };

type Span = Pick<ClipRequest, 'from' | 'to' | 'openedAt' | 'behindSeconds'>;

/**
 * Returns the time that a clip shows: nothing earlier than the change that gave the watch its stream and regions. Null
 * if they are others now.
 */
async function findSpan(
  alert: Pick<Alert, 'opened_at' | 'seen_from' | 'behind_seconds'>,
  opening: number,
  { run_id: id, view_sequence: viewed, config: { evidence_clip: clip } }: Watch,
  { runs }: RecordClipDeps,
): Promise<Span | null> {
  const openedAt = new Date(alert.opened_at);
  const change = viewed === undefined ? undefined : await runs.event(id, viewed);
  const earliestMs = change ? Date.parse(change.timestamp) : -Infinity;
  if ((viewed ?? 0) > opening || earliestMs > openedAt.getTime()) return null;
  const from = Math.max(findClipBegin(alert, clip?.before_seconds ?? 0).getTime(), earliestMs);
  const to = addSeconds(openedAt, clip?.after_seconds ?? 0);
  return { from: new Date(from), to, openedAt, behindSeconds: alert.behind_seconds };
}

/** Time after an opening for which this machine may fail to make or store it, in seconds. */
const maxFaultSeconds = 600;

/**
 * Makes a clip. A fault of the stream, or too long a time, is a reason; faults of this machine are errors, which repeat
 * the message for ten minutes.
 */
async function tryMake(
  { url, caller, input_mode: mode, regions = null }: Source,
  span: Span & { key: string },
  { makeClip, now, attemptSeconds = 90 }: RecordClipDeps,
): Promise<ClipResult> {
  const timeLimit = createTimeLimit(attemptSeconds);
  try {
    return await makeClip({ url, caller, mode, regions, ...span }, timeLimit);
  } catch (error) {
    if (error instanceof StreamError) return { kind: 'none', reason: error.message };
    if (timeLimit.aborted) return tooLong;
    if (!isOver(span.openedAt, maxFaultSeconds, now())) throw error;
    // Other messages are for the operator.
    const why = error instanceof DiskFullError ? ': its disk is full' : '';
    return { kind: 'none', reason: `The service could not make or store the clip in ten minutes${why}` };
  }
}

function describeClip(result: Exclude<ClipResult, { kind: 'pending' }>, key: string): AlertClip {
  if (result.kind === 'none') return withoutClip(result.reason);
  const { bytes, from, to, codec } = result;
  return {
    clip_key: key,
    from: from.toISOString(),
    to: to.toISOString(),
    bytes,
    codec,
    reason: null,
  };
}

/** Commits the clip of an alert that has none yet, and returns which one it has. */
async function commitClip(
  { alert_id: alertId, watch_id: watchId, caller }: Alert,
  clip: AlertClip,
  opening: number,
  deps: RecordClipDeps,
): Promise<AlertClip> {
  let kept = clip;
  await changeStoredWatch(watchId, caller, deps, async () => {
    const alert = await deps.runs.alert(alertId, deps.now());
    if (!alert) throw new AlertNotFoundError();
    kept = alert.clip ?? clip;
    if (alert.clip) return undefined;
    const { condition_id, condition, severity, opened_at } = alert;
    const data = { alert_id: alertId, condition_id, condition, severity, opened_at, ...clip, opening };
    return {
      set: {},
      events: [{ type: 'alert_clip', data }],
      alerts: [{ kind: 'clip', alertId, clip }],
    };
  });
  return kept;
}
