import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executionName } from '../../../../core/records/workflow.ts';
import {
  createExecutionStore,
  type ExecutionStore,
  migrateExecutions,
} from '../../../../adapters/embedded/workflow/execution-store.ts';
import type { Progress } from '../../../../adapters/embedded/workflow/progress.ts';
import { FakeClock } from './fake-clock.ts';
import { errorNamed, executionInput, scriptedJob } from './scripted-job.ts';
import { testEngine } from './test-engine.ts';

const input = executionInput();

type CrashPoint = { write: number; when: 'before' | 'after' };
/** Result of a run with all its restarts: each write that reached the file, and each call of a task. */
type Remains = { written: string[]; calls: string[]; ending: Progress | undefined };

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'watchpost-crash-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a job of two ticks whose first capture fails, in one process per crash point, and one more. */
async function run(script: 'heals' | 'breaks', crashes: CrashPoint[]): Promise<Remains> {
  const file = join(folder, `${crashes.length}-${Math.random()}.sqlite`);
  const remains: Remains = { written: [], calls: [], ending: undefined };
  const resources = scriptedJob(2, (call) => {
    remains.calls.push(call);
    // Counted by stored progress, since an external fault does not depend on crashes.
    const failures = remains.written.filter((write) => /^Capture \[[1-9]/.test(write)).length;
    if (call === 'capture 1' && (script === 'breaks' || failures < 2))
      throw errorNamed('Lambda.ServiceException');
  });
  let clock = new FakeClock();
  for (const crash of [...crashes, undefined]) {
    const database = new DatabaseSync(file);
    database.exec('PRAGMA journal_mode = WAL');
    migrateExecutions(database);
    const store = crashing(createExecutionStore(database), crash, remains.written, () => database.close());
    clock = new FakeClock(clock.now());
    const { engine } = testEngine({ store, resources, clock });
    try {
      engine.resume();
      await engine.start(input);
    } catch {
      continue;
    }
    // The crashed engine is neither closed nor awaited: it is dropped.
    for (let i = 0; i < 60 && database.isOpen && store.running().length > 0; i++) await clock.advance(5);
    if (!database.isOpen) continue;
    remains.ending = store.find(executionName(input))?.progress;
    database.close();
  }
  return remains;
}

/** Store whose process crashes right before or after one of its writes: every later call fails. */
function crashing(
  store: ExecutionStore,
  crash: CrashPoint | undefined,
  written: string[],
  die: () => void,
): ExecutionStore {
  let writes = 0;
  function write(progress: Progress, perform: () => boolean): boolean {
    writes += 1;
    const now = writes === crash?.write;
    if (now && crash?.when === 'before') die();
    const done = perform();
    if (done)
      written.push(
        `${progress.state} ${progress.status === 'running' ? JSON.stringify(progress.attempts) : progress.status}`,
      );
    if (now) {
      die();
      throw new Error('crashed after the write');
    }
    return done;
  }
  return {
    ...store,
    insert: (execution) => {
      const taken = store.find(execution.name) !== undefined;
      return taken ? false : write(execution.progress, () => store.insert(execution));
    },
    save: (name, progress) => write(progress, () => store.save(name, progress)),
  };
}

const withoutRepeats = (calls: string[]) => calls.filter((call, i) => call !== calls[i - 1]);

const heals = [
  'Begin []',
  'Pause []',
  'Capture [1,0,0,0]',
  'Capture [2,0,0,0]',
  'Analyze []',
  'Pause []',
  'Analyze []',
  'Finished succeeded',
];
const breaks = [
  'Begin []',
  'Pause []',
  'Capture [1,0,0,0]',
  'Capture [2,0,0,0]',
  'Capture [3,0,0,0]',
  'Capture [4,0,0,0]',
  'Capture [5,0,0,0]',
  'Capture [6,0,0,0]',
  'Close []',
  'Failed failed',
];

describe.each([
  ['heals', heals],
  ['breaks', breaks],
] as const)('a run whose capture %s', (script, states) => {
  const points = states.flatMap((_, i) => [
    { write: i + 1, when: 'before' as const },
    { write: i + 1, when: 'after' as const },
  ]);

  let whole: Remains;
  beforeAll(async () => (whole = await run(script, [])));

  test('a run without a crash stores each task result and each wait once', () => {
    expect(whole.written).toEqual(states);
  });

  test.each(points)(
    'a run that crashes $when write $write resumes and ends with the same result',
    async (point) => {
      const { written, calls, ending } = await run(script, [point]);
      expect(written).toEqual(states);
      expect(withoutRepeats(calls)).toEqual(withoutRepeats(whole.calls));
      expect(calls.length - whole.calls.length).toBeLessThanOrEqual(1);
      expect({ ...ending, stoppedAt: null }).toEqual({ ...whole.ending, stoppedAt: null });
    },
  );

  test('a run that crashes after each of its writes still ends, one state per process', async () => {
    const everyWrite = states.map((): CrashPoint => ({ write: 1, when: 'after' }));
    const { written, ending } = await run(script, everyWrite);
    expect(written).toEqual(states);
    expect(ending?.status).toBe(script === 'heals' ? 'succeeded' : 'failed');
  });
});
