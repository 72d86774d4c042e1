import type { Run } from '../records/run.ts';
import type { RunChange } from './run-store.ts';

/** Returns the run after a commit. */
export function applyRunChange<Stored extends Run>(
  run: Stored,
  { set, meta }: Pick<RunChange, 'set' | 'meta'>,
): Stored {
  return { ...run, ...meta, ...set, version: run.version + 1 };
}
