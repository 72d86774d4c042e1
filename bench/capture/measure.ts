import { readFileSync, readlinkSync } from 'node:fs';
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

/** Measures the wall time of some work, and the processor time of this process and of its children. */
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
 * Reads the user and system time of children from `/proc`: of those that ended, and of those that run. Processes of Node serve streams and do not
 * count. The unit is ticks of 10 ms, but the kernel keeps the sums exactly: the mean over many runs is exact, a single run is not.
 */
function childrenCpuMs(): number {
  const ended = readTicks(process.pid, [13, 14]);
  const running = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '' && !runsNode(pid))
    .map((pid) => readTicks(pid, [11, 12]));
  return running.reduce((sum, ticks) => sum + ticks, ended) * 10;
}

/** Returns the sum of these fields of `/proc/PID/stat`, counted from the one after the name, or 0 if the process has ended. */
function readTicks(pid: string | number, fields: readonly number[]): number {
  try {
    const values = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.reduce((sum, field) => sum + Number(values[field]), 0);
  } catch {
    return 0;
  }
}

function runsNode(pid: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === process.execPath;
  } catch {
    return false;
  }
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
