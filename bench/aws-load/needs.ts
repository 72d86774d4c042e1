import { units } from '../../adapters/aws/usage-units.ts';
import { listPrices } from '../../cli/cost/list-prices.ts';
import { priceOfModel } from '../../adapters/vision/bedrock/model-prices.ts';
import { rules } from '../../core/rules.ts';
import { quotas } from './quotas.ts';
import type { QuotaName } from './quotas.ts';
import type { KeyClassUnits } from './count-units.ts';

/** Load of a deployment: jobs in `frames` mode with Nova Lite. */
export type Load = {
  jobs: number;
  intervalSeconds: number;
  /** Share of captures that the pre-filter skips. */
  skippedShare: number;
  jobsPerCaller: number;
  alertsPerHour: number;
  /** Polls of a job by its caller. */
  pollsPerMinute: number;
};

/** Transitions of `lib/workflow/bursts.asl.json`, as the cost estimate counts them. */
export type Transitions = { perBurst: number; perExecution: number };

/** Average of a tick, as sampled. */
export type TickUnits = { reads: number; writes: number; byClass: ReadonlyMap<string, KeyClassUnits> };

export type Need = { quota: QuotaName; need: number; limit: number; share: number };

/** Output tokens that Bedrock reserves for a check when it counts against the quota. */
const reservedOutputTokens = 300;
const shards = 16;

/** Computes what a load needs of each quota, the most used one first. `region` selects the quotas. */
export function computeNeeds(
  load: Load,
  tick: TickUnits,
  transitions: Transitions,
  region: 'default' | 'large' = 'default',
): Need[] {
  const { jobs, intervalSeconds, skippedShare, alertsPerHour, pollsPerMinute } = load;
  const ticks = jobs / intervalSeconds;
  const checks = ticks * (1 - skippedShare);
  const { capture, analyze, deliver, poll } = units;
  const alerts = (jobs * alertsPerHour) / 3600;
  const polls = (jobs * pollsPerMinute) / 60;
  const executions = ticks / rules.ticksPerExecution;
  const bursts = jobs / rules.maxBurstSeconds;
  const tokens =
    units.promptTokens + (priceOfModel('amazon.nova-lite')?.pictureTokens ?? 0) + reservedOutputTokens;
  const needs: Record<QuotaName, number> = {
    lambdaConcurrency:
      ticks * (capture.seconds.frames + analyze.secondsWithoutModel) +
      checks * analyze.modelSeconds.frames +
      alerts * deliver.seconds +
      polls * poll.seconds,
    modelTokensPerMinute: checks * 60 * tokens,
    stateTransitions: bursts * transitions.perBurst + executions * transitions.perExecution,
    startExecution: executions,
    startSyncExecution: bursts,
    openExecutions: jobs,
    ruleInvocations: executions,
    newTableWrites: ticks * tick.writes,
    tableWrites: ticks * tick.writes,
    tableReads: ticks * tick.reads + polls * poll.readUnits,
    partitionWrites: findHottestKey(load, tick).writesPerSecond,
    mediaPuts: ticks,
    queueSends: alerts,
    apiRequests: polls,
  };
  return Object.entries(needs)
    .map(([name, need]) => {
      const quota = name as QuotaName;
      const limit = quotas[quota][region];
      return { quota, need, limit, share: need / limit };
    })
    .toSorted((one, other) => other.share - one.share);
}

/** Returns the number of jobs that reach the quota first, if they grow in proportion. */
export function countJobsAtLimit(jobs: number, { share }: Need): number {
  return Math.floor(jobs / share);
}

export type HotKey = {
  name: string;
  keys: number;
  writesPerSecond: number;
  readsPerSecond: number;
  share: number;
};

/** Finds the key with the most write units per second. `share` is that of all write units. */
export function findHottestKey(load: Load, tick: TickUnits): HotKey {
  const ticks = load.jobs / load.intervalSeconds;
  const found = [...tick.byClass].map(([name, { reads, writes }]) => {
    const keys = countKeys(name, load);
    return {
      name,
      keys,
      writesPerSecond: (ticks * writes) / keys,
      readsPerSecond: (ticks * reads) / keys,
      share: writes / keys / tick.writes,
    };
  });
  const [hottest] = found.toSorted((one, other) => other.writesPerSecond - one.writesPerSecond);
  if (hottest === undefined) throw new Error('No key was sampled');
  return hottest;
}

/** Counts the keys that share the units of a class: one per job, per caller, or per shard. */
function countKeys(name: string, { jobs, jobsPerCaller }: Load): number {
  if (name.startsWith('CALLER#') || name === 'index jobs-by-caller') return Math.ceil(jobs / jobsPerCaller);
  if (/^(TOTALS#|ACTIVE#|index repair)/.test(name)) return shards;
  return jobs;
}

/** Returns the price of a stream-hour in DynamoDB, in USD. */
export function priceUnits(
  { reads, writes }: { reads: number; writes: number },
  intervalSeconds: number,
): number {
  return (3600 / intervalSeconds) * (reads * listPrices.dynamoReadUnit + writes * listPrices.dynamoWriteUnit);
}
