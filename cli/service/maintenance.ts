import type { EmbeddedJobStore } from '../../adapters/embedded/runs/job-store.ts';
import type { EmbeddedKeyStore } from '../../adapters/embedded/callers/key-store.ts';
import type { EmbeddedMediaStore } from '../../adapters/embedded/files/media-store.ts';
import type { EmbeddedMomentStore } from '../../adapters/embedded/runs/moment-store.ts';
import type { EmbeddedWatchStore } from '../../adapters/embedded/runs/watch-store.ts';
import type { EmbeddedDeliveryStore } from '../../adapters/embedded/queue/delivery-store.ts';
import type { MotionReferences } from '../../adapters/embedded/scheduler/motion-references.ts';
import type { Scheduler } from '../../adapters/embedded/scheduler/scheduler.ts';
import type { SetTimer } from '../../core/time-limit.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { rules } from '../../core/rules.ts';
import { addSeconds, isOver } from '../../core/time.ts';
import { computeMediaSeconds } from '../../core/workflow/tick-media.ts';
import { repairDue } from '../../core/workflow/repair.ts';
import { revokedKeySeconds } from '../../core/ports/callers.ts';
import type { MediaUse, Log } from '../../core/ports/observability.ts';
import type { RunStore } from '../../core/ports/runs.ts';

export type MaintenanceDeps = {
  core: CoreDeps;
  jobs: EmbeddedJobStore;
  keys: Pick<EmbeddedKeyStore, 'sweep'>;
  media: Pick<EmbeddedMediaStore, 'sweep'>;
  watchStore: Pick<EmbeddedWatchStore, 'sweep'>;
  deliveries: Pick<EmbeddedDeliveryStore, 'sweep'>;
  /** Memory of watches, if the data directory has one. */
  moments?: Pick<EmbeddedMomentStore, 'sweep'>;
  executions: Pick<Scheduler, 'resume'>;
  motionReferences: Pick<MotionReferences, 'prune'>;
  setTimer: SetTimer;
  log: Log;
  keptStreams?: { purge(): void } | undefined;
  /** Bounds the size of the media, and frees space of a full disk. */
  trimMedia?: () => Promise<void>;
};

const maintenanceSeconds = 60;
const motionReferencesKeptSeconds = 86_400;
const runsAtOnce = 400;
/** At start every active job is due, even if a clock far ahead set its lease. */
const endOfTime = new Date(8.64e15);

/**
 * Embedded EventBridge and TTL: at start extends leases, resumes runs, reconciles; then every minute. Returns a
 * function that stops it.
 */
export async function startMaintenance(deps: MaintenanceDeps): Promise<() => Promise<void>> {
  const { core, executions, setTimer } = deps;
  const repairs = createRepairs(deps);
  repairs.renewLeases();
  await executions.resume();
  const everything = { dueBy: endOfTime, limit: Number.MAX_SAFE_INTEGER };
  await repairDue(core, everything);
  let running = Promise.resolve();
  let cancelTimer = setTimer(maintainAgain, maintenanceSeconds * 1000);
  return async () => {
    cancelTimer();
    await running;
  };

  function maintainAgain(): void {
    cancelTimer = setTimer(maintainAgain, maintenanceSeconds * 1000);
    running = running.then(() => maintain(deps, repairs));
  }
}

type Repairs = { renewLeases(): void; reconcile(): Promise<void> };

/** Extends leases before the check if the machine slept: all leases may have expired before the first tick commits. */
function createRepairs({ core, jobs }: MaintenanceDeps): Repairs {
  let renewedOrReconciledAt = core.now();
  return { renewLeases, reconcile };

  function renewLeases(): void {
    const now = core.now();
    jobs.renewLeases(addSeconds(now, rules.leaseMarginSeconds));
    renewedOrReconciledAt = now;
  }

  async function reconcile(): Promise<void> {
    if (isOver(renewedOrReconciledAt, 2 * maintenanceSeconds, core.now())) renewLeases();
    renewedOrReconciledAt = core.now();
    await repairDue(core, { dueBy: renewedOrReconciledAt, limit: runsAtOnce });
  }
}

async function maintain(
  {
    core,
    jobs,
    keys,
    media,
    watchStore,
    deliveries,
    motionReferences,
    moments,
    log,
    keptStreams,
    trimMedia,
  }: MaintenanceDeps,
  repairs: Repairs,
): Promise<void> {
  const now = core.now();
  const aDayAgo = addSeconds(now, -motionReferencesKeptSeconds);
  const steps: Record<string, () => Promise<unknown>> = {
    reconcile: repairs.reconcile,
    'sweep of jobs': () => jobs.sweep(now),
    'sweep of media': () => media.sweep(addSeconds(now, -computeMediaSeconds(core.limits))),
    ...(trimMedia && { 'quota of media': trimMedia }),
    'sweep of streams': async () => keptStreams?.purge(),
    'sweep of keys': () => keys.sweep(addSeconds(now, -revokedKeySeconds)),
    ...(moments && { 'sweep of moments': async () => core.media.remove(await moments.sweep(now)) }),
    'sweep of watches': () => watchStore.sweep(now),
    'sweep of deliveries': () => deliveries.sweep(now),
    'sweep of motion references': async () => motionReferences.prune(aDayAgo),
  };
  for (const [name, step] of Object.entries(steps)) {
    await step().catch((error: unknown) =>
      log.warning(`Maintenance failed (${name}), next attempt in a minute`, { error: String(error) }),
    );
  }
}

export type MediaTrimDeps = {
  /** Maximum size of all media, in megabytes; 0: none. */
  maxMb: number;
  /** Returns the free space of the disk, in bytes. */
  readFree: () => Promise<number>;
  media: Pick<EmbeddedMediaStore, 'trim'>;
  watches: Pick<EmbeddedWatchStore, 'neededMedia'>;
  moments: Pick<EmbeddedMomentStore, 'releasePictures'>;
  runs: Pick<RunStore, 'source'>;
  use: MediaUse;
  log: Log;
  now: () => Date;
};

const megabyte = 1e6;

/**
 * Space on the disk for events and alerts, in bytes: pictures of moments are removed below. More than a minute of
 * captures takes.
 */
export const reservedBytes = 200 * megabyte;

/**
 * Creates the step that keeps the media within their maximum and the disk. Logs the begin of each time in which they do
 * not fit.
 */
export function createMediaTrim({
  maxMb,
  readFree,
  media,
  watches,
  moments: { releasePictures },
  runs,
  use,
  log,
  now,
}: MediaTrimDeps): () => Promise<void> {
  let fitted = true;
  use.max_bytes = maxMb === 0 ? null : maxMb * megabyte;
  const findCaller = async (sourceId: string) => (await runs.source(sourceId))?.caller;
  return async () => {
    const maxBytes = maxMb === 0 ? Infinity : maxMb * megabyte;
    const missingBytes = Math.max(0, reservedBytes - (await readFree()));
    const needed = watches.neededMedia();
    const { removed, evidence, bytes } = await media.trim({
      maxBytes,
      missingBytes,
      needed,
      findCaller,
      releasePictures,
      now: now(),
    });
    const fits = bytes <= maxBytes;
    use.bytes = bytes;
    if (evidence > 0) {
      use.evidence_removed += evidence;
      use.evidence_removed_at = now();
      log.warning('Evidence of alerts removed before its time; raise WATCHPOST_MEDIA_MB or free the disk', {
        count: evidence,
        max_mb: maxMb,
      });
    }
    const others = removed - evidence;
    if (others > 0 && missingBytes > 0)
      log.warning('Pictures of moments removed, since the disk is nearly full', { count: others });
    else if (others > 0) log.info('Oldest media removed', { count: others, max_mb: maxMb });
    if (!fits && fitted)
      log.warning('Media in use exceed WATCHPOST_MEDIA_MB; raise it or free the disk', {
        mb: Math.round(bytes / megabyte),
        max_mb: maxMb,
      });
    fitted = fits;
  };
}
