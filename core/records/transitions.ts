import type { JobStatus } from './job.ts';

/**
 * The job's state machine (interface section 3). Each transition declares the states it may come from, and that
 * declaration becomes the store's condition.
 */
export const transitions = {
  begin: { from: ['pending'] },
  tick: { from: ['running'] },
  end: { from: ['pending', 'running'] },
} as const satisfies Record<string, { from: readonly JobStatus[] }>;

export type TerminalStatus = Extract<JobStatus, 'completed' | 'stopped' | 'failed'>;

export function isTerminal(status: JobStatus): status is TerminalStatus {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}
