import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type Measured = {
  wallMs: number;
  nodeMs: number;
  childrenMs: number;
  startedAtMs: number;
  endedAtMs: number;
};

/** What a run leaves behind (a process that ends, the next one that starts) belongs to it. */
const settleMs = 250;

/** Wall time of some work, and processor time of this process and of the children that ended. */
export async function measure(work: () => Promise<unknown>): Promise<Measured> {
  const nodeBefore = process.cpuUsage();
  const childrenBefore = childrenCpuMs();
  const startedAtMs = Date.now();
  const from = performance.now();
  await work();
  const wallMs = performance.now() - from;
  const endedAtMs = Date.now();
  await sleep(settleMs);
  const node = process.cpuUsage(nodeBefore);
  return {
    wallMs,
    nodeMs: (node.user + node.system) / 1000,
    childrenMs: childrenCpuMs() - childrenBefore,
    startedAtMs,
    endedAtMs,
  };
}

/**
 * Of `/proc/self/stat`, user and system time of children that were waited for, in ticks of 10 ms. The kernel keeps the sum exactly, so over
 * many runs the mean is exact; a single run's is not.
 */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
