import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { isDeliveredByWebhook } from '../../core/records/delivery.ts';
import type { JobEvent } from '../../core/records/event.ts';
import type { Job } from '../../core/records/job.ts';
import type { CommitContexts } from './commit-contexts.ts';
import type { Context, TickContext } from './observer.ts';
import type { JobTick } from './oracle/job-oracle.ts';
import { findStatements, range, readEvents, readStored } from './read-runs.ts';
import type { Receiver } from './receiver.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Lists the committed ticks and events of a job. Throws if its log has a hole. */
export class JobObserver {
  readonly runId: string;
  readonly receivers: readonly Receiver[];
  readonly ticks: JobTick[] = [];
  readonly events: JobEvent[] = [];
  private readonly time: VirtualTime;
  private stored: Job | undefined;

  constructor(runId: string, receivers: readonly Receiver[], time: VirtualTime) {
    this.runId = runId;
    this.receivers = receivers;
    this.time = time;
  }

  /** The model may be asked about each picture. */
  countCall(): void {}

  /** Reads the job after a write to the database. */
  observe(
    database: DatabaseSync,
    commits: Pick<CommitContexts<Context>, 'of'>,
    now: number,
    disturbances: number,
  ): void {
    const row = findStatements(database).version.get(this.runId);
    if (row === undefined || row['version'] === this.stored?.version) return;
    const before = this.stored;
    const after = readStored(database, this.runId) as Job;
    this.stored = after;
    const events = readEvents<JobEvent>(database, this.runId, before?.sequence ?? 0);
    const sequences = events.map(({ sequence }) => sequence);
    if (!isDeepStrictEqual(sequences, range(before?.sequence ?? 0, after.sequence)))
      throw new Error(`sequences ${sequences.join(', ')} after ${before?.sequence} until ${after.sequence}`);
    this.events.push(...events);
    for (const { sequence, type } of events)
      for (const receiver of this.receivers)
        if (isDeliveredByWebhook(type))
          receiver.expect({ sequence, type, alertId: null, severity: null, reason: null, failing: null });
    if (before === undefined || before.last_tick === after.last_tick) return;
    const context = commits.of(this.runId, before, after);
    if (context?.kind !== 'tick') return;
    const alerts = events.some(({ type }) => type === 'watch_triggered');
    const awake = this.time.monotonicMs();
    this.ticks.push({ ...describeTick(context), now, awake, disturbances, alerts });
  }
}

function describeTick({ input: { captured }, answers }: TickContext) {
  const at = Date.parse(captured.began_at);
  if (captured.kind !== 'captured') return { at, kind: captured.kind };
  const { seen, repeated, black, moved } = captured;
  const [asked] = [...answers.values()];
  const identicalMs = Date.parse(seen.seen_at) - Date.parse(seen.identical_since ?? seen.seen_at);
  return {
    at,
    kind: captured.kind,
    segment: seen.position.segment,
    segmentSeconds: seen.position.segment_seconds,
    answer: asked?.answer,
    isQuiet: !repeated && !black && !moved && identicalMs < 30_000,
  };
}
