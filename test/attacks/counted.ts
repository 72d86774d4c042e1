import type { TestContext } from 'vitest';

/** What a test of attacks has tried; `AttackLine` adds them up at the end of a run. */
export type Tried = {
  vectors?: Record<string, number>;
  touched?: number;
  fuzzCases?: number;
  limits?: number;
  /** What one key came to. */
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
