import type { TestContext } from 'vitest';

/** Counts of one attack test; `AttackLine` adds them up at the end of a run. */
export type Tried = {
  vectors?: Record<string, number>;
  touched?: number;
  fuzzCases?: number;
  limits?: number;
  /** Result of the abuse by one key, as text. */
  abuse?: string;
};

declare module 'vitest' {
  interface TaskMeta {
    tried?: Tried;
  }
}

export function count({ task }: Pick<TestContext, 'task'>, tried: Tried): void {
  task.meta.tried = tried;
}
