import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { transitionsPerExecution, transitionsPerLoop } from '../cli/cost/workflow-usage.ts';
import { computeNeeds, countJobsAtLimit, findHottestKey, priceUnits } from './aws-load/needs.ts';
import type { Load } from './aws-load/needs.ts';
import { quotas } from './aws-load/quotas.ts';
import { sampleOperations } from './aws-load/sample.ts';

/**
 * Computes what 100, 1,000 and 10,000 jobs need of the quotas of AWS. Operations run on DynamoDB Local and are counted (Java 17); the rest is arithmetic.
 */

const sizes = [100, 1000, 10_000];
const assumed: Omit<Load, 'jobs'> = {
  intervalSeconds: 10,
  skippedShare: 0,
  jobsPerCaller: 10,
  alertsPerHour: 1,
  pollsPerMinute: 1,
};

await printNeeds();
console.log(`load average of the last minute: ${loadavg()[0]?.toFixed(2)}`);

async function printNeeds(): Promise<void> {
  const sampled = await sampleOperations();
  console.log('\nUnits of DynamoDB by operation, counted on DynamoDB Local');
  console.table(
    Object.fromEntries(
      sampled.map(({ operation, reads, writes, requests, cpuMs }) => [
        operation,
        {
          'read units': round(reads, 1),
          'write units': round(writes, 1),
          requests: round(requests, 1),
          'cpu ms a request': round(cpuMs / requests, 2),
          '$ a stream-hour': operation.startsWith('tick')
            ? round(priceUnits({ reads, writes }, assumed.intervalSeconds), 4)
            : '',
        },
      ]),
    ),
  );
  const [tick] = sampled;
  if (tick === undefined) throw new Error('Nothing was sampled');
  console.log('\nUnits of a tick of a monitor by class of keys');
  console.table(
    Object.fromEntries(
      [...tick.byClass].map(([name, { reads, writes }]) => [
        name,
        { reads: round(reads, 2), writes: round(writes, 2) },
      ]),
    ),
  );
  const bursts: unknown = JSON.parse(
    readFileSync(new URL('../lib/workflow/bursts.asl.json', import.meta.url), 'utf8'),
  );
  const transitions = {
    perBurst: transitionsPerLoop(bursts),
    perExecution: transitionsPerExecution(bursts),
  };
  const needs = (jobs: number, region: 'default' | 'large') =>
    computeNeeds({ ...assumed, jobs }, tick, transitions, region);
  console.log('\nNeed of the quotas, in the order in which a growing deployment reaches them');
  console.table(
    Object.fromEntries(
      needs(1000, 'default').map((need) => {
        const { quota, limit } = need;
        const { name, large } = quotas[quota];
        const inLarge = needs(1000, 'large').find((other) => other.quota === quota) ?? need;
        return [
          name,
          {
            default: limit,
            'large regions': large,
            ...Object.fromEntries(
              sizes.map((jobs) => [
                `${jobs} jobs`,
                round(needs(jobs, 'default').find((other) => other.quota === quota)?.need ?? 0, 1),
              ]),
            ),
            'jobs at it': countJobsAtLimit(1000, need),
            'in large regions': countJobsAtLimit(1000, inLarge),
          },
        ];
      }),
    ),
  );
  console.log('\nHottest key');
  console.table(
    Object.fromEntries(
      sizes.map((jobs) => {
        const { name, keys, writesPerSecond, share } = findHottestKey({ ...assumed, jobs }, tick);
        return [
          `${jobs} jobs`,
          {
            key: name,
            keys,
            'write units a second': round(writesPerSecond, 1),
            'share of all, %': round(100 * share, 2),
          },
        ];
      }),
    ),
  );
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
