import type { CoreDeps, Limits } from '../dependencies.ts';
import type { Evidence, Picture } from '../policies/policy.ts';
import type { Log } from '../ports/observability.ts';
import type { RunChange, RunStore } from '../ports/runs.ts';
import type { Run } from '../records/run.ts';
import type { CaptureOutput } from '../records/workflow.ts';
import { storeShownFrame } from '../stream/shown-frame.ts';
import { rules } from '../rules.ts';

type MediaDeps = Pick<CoreDeps, 'media'>;
type EvidenceDeps = Pick<CoreDeps, 'media' | 'cutFrame' | 'now'> & {
  runs: Pick<RunStore, 'alert' | 'events'>;
};

/** Stores the pictures that events refer to. An alert without its picture is better than none. */
export async function storeEvidence(
  evidence: readonly Evidence[],
  deps: EvidenceDeps,
  log: Log,
): Promise<void> {
  for (const { key, atSeconds, ...capture } of evidence) {
    try {
      await storeShownFrame(key, capture, atSeconds, deps);
    } catch (error) {
      log.warning('Evidence not stored', { error: String(error) });
    }
  }
}

/** Stores the pictures of alerts that stay open again. */
export async function refreshEvidence(
  alertIds: readonly string[],
  { runs, media, now }: EvidenceDeps,
  log: Log,
): Promise<void> {
  for (const id of alertIds) {
    try {
      const { frame_key: frame, clip } = (await runs.alert(id, now())) ?? {};
      for (const key of [frame, clip?.clip_key]) {
        const bytes = key ? await media.get(key) : undefined;
        if (key && bytes) await media.put(key, bytes, key === frame ? 'image/jpeg' : 'video/mp4');
      }
    } catch (error) {
      log.warning('Evidence not refreshed', { error: String(error) });
    }
  }
}

/**
 * Removes the media that nothing refers to after a tick: of its capture, and of the run before it. A clip has no use
 * after its check.
 */
export async function removeUnneeded(
  before: readonly Picture[],
  kept: readonly Picture[],
  captured: CaptureOutput,
  deps: MediaDeps,
  log: Log,
): Promise<void> {
  const evidence = before.filter(({ isEvidence }) => isEvidence);
  const taken = listTaken(captured);
  // Another attempt of the tick has committed the capture, whose moments this one does not know.
  const isCommitted = before.some(({ key }) => key === taken[0]);
  const keys = new Set([...before.map(({ key }) => key), ...(isCommitted ? [] : taken)]);
  await removeMedia(withoutKept([...keys], [...kept, ...evidence]), deps, log);
}

/**
 * Removes the evidence of a capture that a decision has stored which a change outdated. Another attempt of the tick may
 * have committed it since `first` was read.
 */
export async function removeOutdated(
  stored: readonly Evidence[],
  kept: readonly Picture[],
  first: Run,
  captured: CaptureOutput,
  deps: EvidenceDeps,
  log: Log,
): Promise<void> {
  const taken = listTaken(captured);
  const own = stored.filter(({ frame_key: frameKey }) => taken.includes(frameKey));
  const keys = withoutKept(
    own.map(({ key }) => key),
    kept,
  );
  if (keys.length === 0) return;
  const events = await deps.runs.events(first.run_id, first.sequence, maxEventsOfTick, deps.now());
  await removeMedia(withoutKept(keys, listReferred({ events })), deps, log);
}

/** Maximum events that are committed while a tick is under way. */
const maxEventsOfTick = 1000;

export function listReferred({ events, moments = [] }: Pick<RunChange, 'events' | 'moments'>): Picture[] {
  const keys = [
    ...events.map(({ data }) => ('frame_key' in data ? data.frame_key : null)),
    ...moments.map((moment) => moment.frame_key),
  ];
  return keys.flatMap((key) => (key === null || key === undefined ? [] : [{ key, isEvidence: true }]));
}

export function listTaken(captured: CaptureOutput): string[] {
  if (captured.kind !== 'captured') return [];
  const { frame_key: frame, clip_key: clip, moments = [] } = captured;
  return [frame, ...(clip === null ? [] : [clip]), ...moments.map(({ frame_key: key }) => key)];
}

/** Objects that a fault or a crash leaves behind expire (`computeMediaSeconds`). */
export async function removeMedia(keys: readonly string[], { media }: MediaDeps, log: Log): Promise<void> {
  if (keys.length === 0) return;
  await media.remove(keys).catch((error: unknown) => {
    log.warning('Media not removed', { count: keys.length, error: String(error) });
  });
}

function withoutKept(keys: readonly string[], kept: readonly Picture[]): string[] {
  return keys.filter((key) => !kept.some((picture) => picture.key === key));
}

/** Time for retries of the last tick of a job, in seconds. */
const marginSeconds = 3600;

/**
 * Returns the age from which no job refers to a capture, in seconds: the longest duration of a job, its wait for the
 * model, and its retention. Older objects are what a fault or a crash left behind.
 */
export function computeMediaSeconds({
  retentionSeconds,
  modelGraceSeconds,
}: Pick<Limits, 'retentionSeconds' | 'modelGraceSeconds'>): number {
  return rules.maxJobDurationSeconds + modelGraceSeconds + retentionSeconds + marginSeconds;
}
