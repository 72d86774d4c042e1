import type { Limits } from '../dependencies.ts';
import { rules } from '../rules.ts';

/** Time for retries of the last tick of a job, in seconds. */
const marginSeconds = 3600;

/**
 * Returns the age from which no job refers to a capture, in seconds: the longest duration of a job, its wait for the
 * model, and its retention. Older objects are what a fault or a crash left behind.
 */
export function computeMediaSeconds({
  retentionSeconds,
  modelGraceSeconds,
}: Pick<Limits, 'retentionSeconds' | 'modelGraceSeconds'>): number {
  return rules.maxJobDurationSeconds + modelGraceSeconds + retentionSeconds + marginSeconds;
}
