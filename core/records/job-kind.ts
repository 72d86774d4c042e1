import type { z } from 'zod';
import { jobRecords, type policyEvents, type policyLists, type policyNumbers } from '../policies/records.ts';
import type { Mover } from '../time.ts';
import type { ConfigOf, Job, JobOf, JobPolicy, StateOf } from './job.ts';

type Numbers = z.input<z.ZodObject<typeof policyNumbers>>;

/** Parts of a job that depend on its policy: for ticks, and for those who show it. All are pure. */
type JobKind<P extends JobPolicy> = {
  /** Name in messages. */
  name: string;
  /** Returns the time between two captures, in seconds. */
  intervalSeconds(config: ConfigOf<P>): number;
  durationSeconds(config: ConfigOf<P>): number;
  /** Returns the time from which the job sees nothing, besides its end and its deadline; `null` without one. */
  sightEnd(state: StateOf<P>): string | null;
  mapTimes(state: StateOf<P>, move: Mover): StateOf<P>;
  /** Type of the events that the details of the job list, and the name of the list. */
  findings: { type: keyof typeof policyEvents; name: keyof typeof policyLists };
  /** Returns the numbers of the job beside those of all jobs. */
  toNumbers(state: StateOf<P>): Numbers;
};

const kinds: { [P in JobPolicy]: JobKind<P> } = jobRecords;

/** Calls `use` with the kind of a job. */
export function withKind<Result>(
  job: Job,
  use: <P extends JobPolicy>(job: JobOf<P>, kind: JobKind<P>) => Result,
): Result {
  return withPolicyKind(job, use);
}

function withPolicyKind<P extends JobPolicy, Result>(
  job: JobOf<P>,
  use: <Q extends JobPolicy>(job: JobOf<Q>, kind: JobKind<Q>) => Result,
): Result {
  return use(job, kinds[job.policy]);
}
