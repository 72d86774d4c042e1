import nodeProcess from 'node:process';

/** Limit on processor time. Does `work`; returns false if it has cost more than the share. */
export type WorkLimit = (work: () => void) => boolean;

/** Mean share of one core for a connection, and the time that it may use without a pause. */
const defaultShare = { share: 0.05, burstMs: 1_000 };

/** Clocks in milliseconds: the time that passes, and the processor time of this thread. */
type WorkClocks = { elapsedMs: () => number; workMs: () => number };

/**
 * Creates a limit on the mean share of one core, with bursts: what a server had stored. Far from the limit, the time that passes stands for the processor time,
 * which is never longer and ten times as slow to read.
 */
export function createWorkLimit({ elapsedMs, workMs }: WorkClocks = systemClocks): WorkLimit {
  const { share, burstMs } = defaultShare;
  let lastMs = elapsedMs();
  let freeMs = burstMs;
  return (work) => {
    const clock = freeMs > burstMs / 2 ? elapsedMs : workMs;
    const startedMs = clock();
    work();
    const usedMs = clock() - startedMs;
    const nowMs = elapsedMs();
    freeMs = Math.min(burstMs, freeMs + (nowMs - lastMs) * share) - usedMs;
    lastMs = nowMs;
    return freeMs >= 0;
  };
}

const elapsedMs = (): number => performance.now();

/** Before Node 23.9, work of other threads meanwhile counts too. */
function readWorkMs(): number {
  const { user, system } = 'threadCpuUsage' in process ? process.threadCpuUsage() : nodeProcess.cpuUsage();
  return (user + system) / 1000;
}

const systemClocks: WorkClocks = { elapsedMs, workMs: readWorkMs };
