/** Limit on processor time. Does `work`; returns false if it has cost more than the share. */
export type WorkLimit = (work: () => void) => boolean;

/** Mean share of one core for a connection, and the time that it may use without a pause. */
const defaultShare = { share: 0.05, burstMs: 1_000 };

/** Clocks in milliseconds: the time that passes, and the processor time of this thread. */
type WorkClocks = { elapsedMs: () => number; workMs: () => number };

/** Creates a limit on the mean share of one core, with bursts: what a server had stored. */
export function createWorkLimit({ elapsedMs, workMs }: WorkClocks = systemClocks): WorkLimit {
  const { share, burstMs } = defaultShare;
  let lastMs = elapsedMs();
  let freeMs = burstMs;
  return (work) => {
    const startedMs = workMs();
    work();
    const nowMs = elapsedMs();
    freeMs = Math.min(burstMs, freeMs + (nowMs - lastMs) * share) - (workMs() - startedMs);
    lastMs = nowMs;
    return freeMs >= 0;
  };
}

const elapsedMs = (): number => performance.now();

function readThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Before Node 23.9, a busy machine counts as work of the connection. */
const systemClocks: WorkClocks = {
  elapsedMs,
  workMs: 'threadCpuUsage' in process ? readThreadMs : elapsedMs,
};
