import type { z } from 'zod';
import type { EventType } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { jobStatsSchema } from '../responses/jobs.ts';
import type { Mover } from '../sight/clock-change.ts';

type Stats = z.input<typeof jobStatsSchema>;

/** Parts of a job that depend on its policy: for ticks, and for those who show it. All are pure. */
export type JobKind<J extends Job> = {
  /** Name in messages. */
  name: string;
  /** Returns the time between two captures, in seconds. */
  intervalSeconds(job: J): number;
  /** Returns the maximum duration, in seconds. */
  durationSeconds(job: J): number;
  /** Returns the time from which the job sees nothing, besides its end and its deadline; `null` without one. */
  sightEnd(state: J['state']): string | null;
  /** Replaces the times in the state. */
  mapTimes(state: J['state'], move: Mover): J['state'];
  /** Type of the events that the details of the job list, and the name of the list. */
  findings: { type: EventType; name: keyof Stats };
  /** Returns the numbers of the job beside those of all jobs. */
  stats(state: J['state']): Partial<Stats>;
};
