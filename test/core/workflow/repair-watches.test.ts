import { beforeEach, describe, expect, test } from 'vitest';
import { repairRun, type EndedExecution } from '../../../core/workflow/repair.ts';
import { newCreation } from '../../contract/watch-records.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let watchId: string;

beforeEach(async () => {
  world = createWorld();
  const creation = newCreation();
  watchId = creation.run_id;
  await world.c.watches.create(creation, world.clock.now);
});

const repair = (ended?: EndedExecution) => repairRun(watchId, world.c, ended);
const readRun = async () => (await world.c.watches.getIncludingEnded(watchId))!;
const isOverdue = async () => (await readRun()).lease_until < world.clock.now.toISOString();

async function setRun(generation: number, burst: number) {
  const { version } = await readRun();
  const set = { generation, burst };
  await world.c.watches.commit({
    runId: watchId,
    expectedVersion: version,
    set,
    events: [],
  });
}

describe('repair of a watch with a list of running executions', () => {
  const useList = (running: string[]) => {
    world.c.executions = {
      ...world.c.executions,
      status: async ({ run_id, generation }) =>
        running.includes(`${run_id}-${generation}`) ? 'running' : 'not_running',
    };
  };

  test('the execution of an overdue watch that the list lacks is started, if there was none', async () => {
    useList([]);
    world.advance(3600);
    await repair();
    expect((await readRun()).generation).toBe(0);
    expect(world.executions.get(`${watchId}-0`)).toBe('running');
    expect(await isOverdue()).toBe(false);
  });

  test('an overdue watch whose execution has ended continues with its next generation', async () => {
    useList([]);
    world.executions.set(`${watchId}-0`, 'aborted');
    world.advance(3600);
    await repair();
    expect((await readRun()).generation).toBe(1);
    expect(world.executions.get(`${watchId}-1`)).toBe('running');
    expect(await isOverdue()).toBe(false);
  });

  test('a watch that committed after the list was made keeps its generation', async () => {
    useList([]);
    await repair();
    expect((await readRun()).generation).toBe(0);
    expect(world.executions.size).toBe(0);
  });

  test('an overdue watch that the list has keeps its generation, with a new lease', async () => {
    useList([`${watchId}-0`]);
    world.advance(3600);
    await repair();
    expect((await readRun()).generation).toBe(0);
    expect(await isOverdue()).toBe(false);
  });
});

describe('repair of a watch after the end of an execution', () => {
  const refuseStatus = () => {
    world.c.executions = {
      ...world.c.executions,
      status: () => Promise.reject(new Error('The status was requested')),
    };
  };

  test('a failed execution is followed by the next generation, without a request for its status', async () => {
    refuseStatus();
    await repair({ generation: 0, status: 'failed' });
    expect(world.executions.get(`${watchId}-1`)).toBe('running');
  });

  test('no status is requested of a watch whose next generation has begun its first burst', async () => {
    await setRun(1, 1);
    refuseStatus();
    await repair({ generation: 0, status: 'succeeded' });
    expect(world.executions.size).toBe(0);
  });

  test('the next generation is started if its execution is missing', async () => {
    await setRun(1, 0);
    await repair({ generation: 0, status: 'succeeded' });
    expect(world.executions.get(`${watchId}-1`)).toBe('running');
  });
});
