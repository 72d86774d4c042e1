import { TransientError } from './errors.ts';
import { rules } from './rules.ts';

/** Result of one attempt to commit: its value, or a conflict with a concurrent change. */
export type CommitAttempt<Value> = { kind: 'committed'; value: Value } | { kind: 'conflict' };

export const conflict = { kind: 'conflict' } as const;

export function committed<Value>(value: Value): CommitAttempt<Value> {
  return { kind: 'committed', value };
}

/**
 * Repeats `attempt`, which reads the stored state and commits a change of it, until there is no conflict. Throws
 * `TransientError` with `message` after `rules.maxCommitAttempts`.
 */
export async function retryConflicts<Value>(
  message: string,
  attempt: () => Promise<CommitAttempt<Value>>,
): Promise<Value> {
  for (let attempts = 0; attempts < rules.maxCommitAttempts; attempts += 1) {
    const result = await attempt();
    if (result.kind === 'committed') return result.value;
  }
  throw new TransientError(message);
}
