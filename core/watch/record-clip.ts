import type { CoreDeps } from '../dependencies.ts';
import { AlertNotFoundError, StreamError, WatchNotFoundError } from '../errors.ts';
import type { DeliveryOutcome } from '../ports/delivery.ts';
import { runLog } from '../ports/log.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { StreamCapturer } from '../ports/stream-capturer.ts';
import { maxClipBytes, withoutClip } from '../records/clip.ts';
import type { AlertClip, ClipRequest, ClipResult } from '../records/clip.ts';
import type { ClipMessage } from '../records/delivery.ts';
import type { Source } from '../records/job.ts';
import { asWatch, isWatchEvent } from '../records/run.ts';
import type { Watch } from '../records/watch.ts';
import type { Alert } from '../records/watch-state.ts';
import { toClipKey } from '../policies/watch/evidence.ts';
import { createTimeLimit } from '../time-limit.ts';
import { addSeconds } from '../time.ts';
import { changeStoredWatch } from './commit-watch.ts';

export type RecordClipDeps = Pick<CoreDeps, 'media' | 'log' | 'now'> & {
  runs: RunStore;
  streams: Pick<StreamCapturer, 'clip'>;
};

/** Maximum time of one attempt, in seconds: shorter than its message is invisible. */
const attemptSeconds = 90;

const done: DeliveryOutcome = { kind: 'done' };

/**
 * Handles a message of an opening whose watch wants a clip: reads what the stream has of it by now, and once that is all, stores it and commits its event. A
 * repetition is safe: the clip of an alert has one key, and an alert that has one gets no other.
 */
export async function recordClip(message: ClipMessage, deps: RecordClipDeps): Promise<DeliveryOutcome> {
  const { clip: watchId, sequence } = message;
  const known = asWatch(await deps.runs.get(watchId, deps.now()));
  const source = known && (await deps.runs.source(known.source_id));
  // After its source, so that no change of that is missed.
  const watch = source && asWatch(await deps.runs.get(watchId, deps.now()));
  const event = watch && (await deps.runs.event(watchId, sequence));
  if (!watch?.config.evidence_clip || !event || !isWatchEvent(event) || event.type !== 'alert_opened')
    return done;
  const alert = await deps.runs.alert(event.data.alert_id, deps.now());
  if (!alert || alert.clip) return done;
  const span = await findSpan(alert, sequence, watch, deps);
  const result: ClipResult = span
    ? await readClip(source, span, deps)
    : { kind: 'none', reason: 'The stream or its regions were changed around the opening' };
  if (result.kind === 'pending') return { kind: 'again', afterSeconds: result.afterSeconds };
  const key = toClipKey(source.source_id, alert.alert_id, watch.config.retention_days);
  const clip = await storeClip(result, key, deps);
  if (clip.reason !== null)
    runLog(deps.log, { run: 'watch', run_id: watchId }).warning('No clip of an alert', {
      alert_id: alert.alert_id,
      reason: clip.reason,
    });
  try {
    await commitClip(alert, clip, sequence, deps);
  } catch (error) {
    // Deleted meanwhile, and the clip was stored after its media were removed.
    if (!(error instanceof WatchNotFoundError || error instanceof AlertNotFoundError)) throw error;
    if (clip.clip_key) await deps.media.remove([clip.clip_key]);
  }
  return done;
}

type Span = Pick<ClipRequest, 'from' | 'to' | 'openedAt'>;

/** Returns the time that a clip shows: nothing earlier than the change that gave the watch its stream and regions. Null if they are others now. */
async function findSpan(
  { opened_at: at }: Alert,
  opening: number,
  { run_id: id, view_sequence: viewed, config: { evidence_clip: clip } }: Watch,
  { runs }: RecordClipDeps,
): Promise<Span | null> {
  const openedAt = new Date(at);
  const change = viewed === undefined ? undefined : await runs.event(id, viewed);
  const earliestMs = change ? Date.parse(change.timestamp) : -Infinity;
  if ((viewed ?? 0) > opening || earliestMs > openedAt.getTime()) return null;
  const from = Math.max(addSeconds(openedAt, -(clip?.before_seconds ?? 0)).getTime(), earliestMs);
  return { from: new Date(from), to: addSeconds(openedAt, clip?.after_seconds ?? 0), openedAt };
}

/** Reads what the stream has of a clip. A fault of the stream, or too long a time, is a reason; faults of this machine are errors, which repeat the message. */
async function readClip(
  { url, caller, input_mode: mode, regions = null }: Source,
  span: Span,
  { streams }: RecordClipDeps,
): Promise<ClipResult> {
  if (!streams.clip) return { kind: 'none', reason: 'This service makes no clips' };
  const timeLimit = createTimeLimit(attemptSeconds);
  try {
    return await streams.clip({ url, caller, mode, regions: regions ?? null, ...span }, timeLimit);
  } catch (error) {
    if (error instanceof StreamError) return { kind: 'none', reason: error.message };
    if (timeLimit.aborted) return { kind: 'none', reason: 'The clip took too long' };
    throw error;
  }
}

async function storeClip(
  result: Exclude<ClipResult, { kind: 'pending' }>,
  key: string,
  { media }: RecordClipDeps,
): Promise<AlertClip> {
  if (result.kind === 'none') return withoutClip(result.reason);
  const { bytes, from, to, codec } = result;
  if (bytes.length > maxClipBytes) return withoutClip('The clip is larger than 40 MB');
  await media.put(key, bytes, 'video/mp4');
  const span = { from: from.toISOString(), to: to.toISOString() };
  return { clip_key: key, ...span, bytes: bytes.length, codec, reason: null };
}

async function commitClip(
  { alert_id: alertId, watch_id: watchId, caller }: Alert,
  clip: AlertClip,
  opening: number,
  deps: RecordClipDeps,
): Promise<void> {
  await changeStoredWatch(watchId, caller, deps, async () => {
    const alert = await deps.runs.alert(alertId, deps.now());
    if (!alert) throw new AlertNotFoundError();
    if (alert.clip) return undefined;
    const { condition_id, condition, severity, opened_at } = alert;
    const data = { alert_id: alertId, condition_id, condition, severity, opened_at, ...clip, opening };
    return {
      set: {},
      events: [{ type: 'alert_clip', data }],
      alerts: [{ kind: 'clip', alertId, clip }],
    };
  });
}
