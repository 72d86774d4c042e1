/** Jobs that wait for a turn, and when the head of each becomes visible (in milliseconds). */
export type WaitingJobs = {
  has(jobId: string): boolean;
  add(jobId: string, visibleAt: number): void;
  /** Takes out the one that has been visible longest. */
  takeVisible(nowMs: number): string | undefined;
  /** When the next one becomes visible. */
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

/** A look at each: a machine has some hundred jobs with something to deliver. */
function earliest(jobs: Map<string, number>): { jobId: string; visibleAt: number } | undefined {
  let first: { jobId: string; visibleAt: number } | undefined;
  for (const [jobId, visibleAt] of jobs) {
    if (first === undefined || visibleAt < first.visibleAt) first = { jobId, visibleAt };
  }
  return first;
}
