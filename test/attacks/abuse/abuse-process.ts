import { runAbuse, runCameraAbuse } from './abuse.ts';

/**
 * Measures what one key can do to a service of 512 MB and to another caller, with a number of creations, or for a minute with ten hostile cameras. Ends with 1 if
 * memory or the other caller's p99 exceeds its goal; on a busy machine, compare with the latency that the other caller has alone.
 * Usage: npm run bench -- abuse [cameras|10000]
 */

const goals = { memory: 512, p99Ms: 250 };

const result =
  process.argv[2] === 'cameras'
    ? await runCameraAbuse(60)
    : await runAbuse({ creations: Number(process.argv[2] ?? 10_000) });
console.log(JSON.stringify(result, undefined, 2));
const { before, meanwhile } = result.neighbor;
const isMet = result.memory.peak < goals.memory && meanwhile.p99Ms <= goals.p99Ms;
console.log(
  `memory ${result.memory.peak} MB (goal ${goals.memory}), p99 of another caller ${meanwhile.p99Ms} ms (goal ${goals.p99Ms}, alone ${before.p99Ms}): ${isMet ? 'met' : 'missed'}`,
);
process.exitCode = isMet ? 0 : 1;
