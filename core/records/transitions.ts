import type { JobStatus } from './job.ts';

/**
 * State machine of a job (interface section 3). Each transition lists the states that it starts from, which the store
 * checks in the commit.
 */
export const transitions = {
  begin: { from: ['pending'] },
  tick: { from: ['running'] },
  end: { from: ['pending', 'running'] },
} as const satisfies Record<string, { from: readonly JobStatus[] }>;

export type TerminalStatus = Extract<JobStatus, 'completed' | 'stopped' | 'failed'>;

/** Returns true if the job has ended. */
export function isTerminal(status: JobStatus): status is TerminalStatus {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}
