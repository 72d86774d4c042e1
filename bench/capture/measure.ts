import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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
 * Reads the user and system time of children from `/proc`: of those that ended, and of those that run. Processes of Node
 * serve streams and do not count. The unit is ticks of 10 ms, but the kernel keeps the sums exactly: the mean over many
 * runs is exact, a single run is not. The list of children in `/proc` is missing in many kernels, so all processes are
 * read. Throws an error without `/proc`.
 */
export function childrenCpuMs(proc = '/proc', parent = process.pid): number {
  const ended = readStat(proc, parent);
  if (ended === null)
    throw new Error(`Processor time of children needs ${proc}/${parent}/stat. Use Linux for this benchmark.`);
  const running = readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid, stat: readStat(proc, pid) }))
    .filter(({ pid, stat }) => stat?.[1] === parent && !runsNode(proc, pid))
    .map(({ stat }) => sumFields(stat, [11, 12]));
  return running.reduce((sum, ticks) => sum + ticks, sumFields(ended, [13, 14])) * 10;
}

/** Returns the fields of `/proc/PID/stat` after the name, or null if the process has ended. */
function readStat(proc: string, pid: string | number): number[] | null {
  try {
    const text = readFileSync(`${proc}/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(') ') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return null;
  }
}

function sumFields(stat: readonly number[] | null, fields: readonly number[]): number {
  return fields.reduce((sum, field) => sum + (stat?.[field] ?? 0), 0);
}

function runsNode(proc: string, pid: string): boolean {
  try {
    return readlinkSync(`${proc}/${pid}/exe`) === process.execPath;
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
