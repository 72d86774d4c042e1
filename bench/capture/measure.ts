import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Wall and processor time of a run, in milliseconds. */
export type Measured = {
  wallMs: number;
  nodeMs: number;
  childrenMs: number;
  startedAtMs: number;
  endedAtMs: number;
};

/** Time to settle, in milliseconds: a process that ends and the next one that starts belong to the run. */
const settleMs = 250;

/** Measures the wall time of some work, and the processor time of this process and of its ended children. */
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
 * Reads the user and system time of awaited children from `/proc/self/stat`, in ticks of 10 ms. The kernel keeps
 * the sum exactly, so the mean over many runs is exact; a single run is not.
 */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** Returns the median. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the mean. */
export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
