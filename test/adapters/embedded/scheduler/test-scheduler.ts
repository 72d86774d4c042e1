import type { DatabaseSync } from 'node:sqlite';
import { createRunLog } from '../../../../adapters/embedded/runs/run-store.ts';
import { createMotionReferences } from '../../../../adapters/embedded/scheduler/motion-references.ts';
import type { RunTasks } from '../../../../adapters/embedded/scheduler/tick-loop.ts';
import { createScheduler } from '../../../../adapters/embedded/scheduler/scheduler.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import type { ExecutionInput } from '../../../../core/records/workflow.ts';
import { scriptedRun } from '../../../support/scripted-run.ts';
import { createCollectedLog } from '../log/collected-log.ts';
import { FakeClock } from './fake-clock.ts';

/** Creates a scheduler on a fake clock, with a new database in memory. */
export function testScheduler({
  tasks = scriptedRun(1),
  unfinished = [],
  database = openDatabase(':memory:'),
  clock = new FakeClock(),
}: {
  tasks?: RunTasks;
  unfinished?: ExecutionInput[];
  database?: DatabaseSync;
  clock?: FakeClock;
} = {}) {
  const log = createCollectedLog();
  const motionReferences = createMotionReferences(database, clock.now);
  const scheduler = createScheduler({
    tasks,
    unfinishedRuns: () => unfinished,
    motionReferences,
    clock,
    random: () => 0.5,
    log: createRunLog(database, log),
  });
  return { scheduler, clock, database, motionReferences, log };
}
