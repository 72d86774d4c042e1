import nodeProcess from 'node:process';

/** Limit on processor time. Does `work`; returns false if it has cost more than the share. */
export type WorkLimit = (work: () => void) => boolean;

/** Mean share of one core for a connection, and the time that it may use without a pause. */
const defaultShare = { share: 0.05, burstMs: 1_000 };

/** Clocks in milliseconds: the time that passes, and the processor time of this thread. */
type WorkClocks = { elapsedMs: () => number; workMs: () => number };

/** Time between two readings of the processor time far from the limit, and of work from which on they are compared. */
const sampleMs = 100;

/**
 * Creates a limit on the mean share of one core, with bursts: what a server had stored. Far from the limit, the time
 * that passes during short work stands for its processor time, which is never longer and ten times as slow to read.
 */
export function createWorkLimit({ elapsedMs, workMs }: WorkClocks = systemClocks): WorkLimit {
  const { share, burstMs } = defaultShare;
  let lastMs = elapsedMs();
  let freeMs = burstMs;
  let sample = { atMs: lastMs, workMs: workMs() };
  return (work) => {
    const isNear = freeMs <= burstMs / 2;
    const startedMs = elapsedMs();
    if (isNear || startedMs - sample.atMs > sampleMs) sample = { atMs: startedMs, workMs: workMs() };
    work();
    const nowMs = elapsedMs();
    const passedMs = nowMs - startedMs;
    // A machine that pauses during the work costs the server nothing.
    const usedMs = isNear || passedMs > sampleMs ? Math.min(passedMs, workMs() - sample.workMs) : passedMs;
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
