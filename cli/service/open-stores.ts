import type { DatabaseSync } from 'node:sqlite';
import { createCallerEraser, createCallerStore } from '../../adapters/embedded/callers/caller-store.ts';
import { createKeyStore } from '../../adapters/embedded/callers/key-store.ts';
import { openMasterSecret } from '../../adapters/embedded/callers/master-secret.ts';
import { createMeter } from '../../adapters/embedded/callers/usage.ts';
import { openDataDirectory } from '../../adapters/embedded/files/data-directory.ts';
import { createMediaStore } from '../../adapters/embedded/files/media-store.ts';
import { createLogSignals } from '../../adapters/embedded/log/log-signals.ts';
import { createDeliveryQueue } from '../../adapters/embedded/queue/delivery-queue.ts';
import { createDeliveryStore } from '../../adapters/embedded/queue/delivery-store.ts';
import { createMotionReferences } from '../../adapters/embedded/scheduler/motion-references.ts';
import { openDatabase, verifyDatabase } from '../../adapters/embedded/sqlite/database.ts';
import { createNewestEntry } from '../../adapters/embedded/sqlite/newest-entry.ts';
import { createEventSessions } from '../../adapters/embedded/web/event-sessions.ts';
import { shareLogReads } from '../../adapters/embedded/web/share-log-reads.ts';
import type { EventStreams } from '../../adapters/http/sse/messages.ts';
import { publishCommits, publishCreations } from '../../core/delivery/publish.ts';
import type { Log } from '../../core/ports/observability.ts';
import { setSystemTimer } from '../../core/time-limit.ts';
import type { Settings } from '../settings.ts';
import type { RunStore } from '../../core/ports/runs.ts';
import { createJobStore, type EmbeddedJobStore } from '../../adapters/embedded/runs/job-store.ts';
import { createMomentStore, type EmbeddedMomentStore } from '../../adapters/embedded/runs/moment-store.ts';
import { createRunStore, type Notify } from '../../adapters/embedded/runs/run-store.ts';
import { createRunTables } from '../../adapters/embedded/runs/run-tables.ts';
import { createWatchStore, type EmbeddedWatchStore } from '../../adapters/embedded/runs/watch-store.ts';

type StoresDeps = { log: Log; now: () => Date; steadyNow: () => Date };

/**
 * Maximum concurrent deliveries. Each costs a socket, so only a very large number of hanging receivers delays others.
 */
const deliveriesAtOnce = 1024;

export type ServiceStores = Awaited<ReturnType<typeof openStores>>;

/**
 * Opens the data directory: its database, secret and media, the delivery queue, and the log of runs with its readers.
 */
export async function openStores(settings: Settings, { log, now, steadyNow }: StoresDeps) {
  const directory = await openDataDirectory(settings.dataDir);
  const database = openDatabase(directory.database);
  verifyDatabase(database);
  const masterSecret = await openMasterSecret(directory.masterSecret, database);
  const signals = createLogSignals(setSystemTimer);
  const logReads = shareLogReads(() => runs);
  const { jobs, ...stored } = createRunStores(database, (runId) => {
    logReads.forget(runId);
    signals.notify(runId);
  });
  const queue = createDeliveryQueue({
    database,
    now: steadyNow,
    setTimer: setSystemTimer,
    log,
    concurrency: deliveriesAtOnce,
  });
  const deliveries = createDeliveryStore(database);
  const publishing = { queue, deliveries, log, now };
  const runs = publishCommits(stored.runs, publishing);
  const eventSessions = createEventSessions(settings.eventStreamsPerCaller);
  return {
    database,
    masterSecret,
    storedWatches: stored.watches,
    storedMoments: stored.moments,
    motionReferences: createMotionReferences(database, now),
    newestEntry: createNewestEntry(database),
    eventSessions,
    /** Folder for files of one capture. */
    temporary: directory.temporary,
    release: () => directory.release(),
    /** Ports of the core. */
    ports: {
      runs,
      jobs,
      watches: publishCreations(stored.watches, stored.runs, publishing),
      moments: stored.moments,
      deliveries,
      queue,
      media: createMediaStore(directory.media),
      callers: createCallerStore(database),
      eraser: createCallerEraser(database),
      keys: createKeyStore(database),
      meter: createMeter({ startedAt: now(), jobsBefore: await jobs.usage() }),
      eventStreams: {
        sessions: eventSessions,
        // The commit of an event wakes its readers.
        signals,
        reads: logReads,
        retryMilliseconds: 2000,
        heartbeatSeconds: 15,
        sessionSeconds: null,
      } satisfies EventStreams,
    },
  };
}

/** Stores of runs, and of the resources of the API that they belong to. */
type EmbeddedRunStores = {
  runs: RunStore;
  jobs: EmbeddedJobStore;
  watches: EmbeddedWatchStore;
  moments: EmbeddedMomentStore;
};

/** Creates the stores of runs on one set of tables. `notify` is called after a log has grown. */
export function createRunStores(database: DatabaseSync, notify: Notify = () => undefined): EmbeddedRunStores {
  const tables = createRunTables(database);
  return {
    runs: createRunStore(database, tables, notify),
    jobs: createJobStore(database, tables),
    moments: createMomentStore(database, tables),
    watches: createWatchStore(database, tables, notify),
  };
}
