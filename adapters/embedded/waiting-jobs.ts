/** Jobs that wait for a turn, each with the time at which its head becomes visible (epoch ms). */
export type WaitingJobs = {
  has(jobId: string): boolean;
  add(jobId: string, visibleAt: number): void;
  /** Removes and returns the job that has been visible longest; undefined if none is visible. */
  takeVisible(nowMs: number): string | undefined;
  /** Returns the next visibility time, in epoch milliseconds. */
  nextVisibleAt(): number | undefined;
};

export function createWaitingJobs(): WaitingJobs {
  const visibleAtByJob = new Map<string, number>();
  return {
    has: (jobId) => visibleAtByJob.has(jobId),
    add: (jobId, visibleAt) => void visibleAtByJob.set(jobId, visibleAt),
    takeVisible: (nowMs) => {
      const first = earliest(visibleAtByJob);
      if (first === undefined || first.visibleAt > nowMs) return undefined;
      visibleAtByJob.delete(first.jobId);
      return first.jobId;
    },
    nextVisibleAt: () => earliest(visibleAtByJob)?.visibleAt,
  };
}

/** Scans all entries: a machine has a few hundred jobs with pending deliveries. */
function earliest(jobs: Map<string, number>): { jobId: string; visibleAt: number } | undefined {
  let first: { jobId: string; visibleAt: number } | undefined;
  for (const [jobId, visibleAt] of jobs) {
    if (first === undefined || visibleAt < first.visibleAt) first = { jobId, visibleAt };
  }
  return first;
}
