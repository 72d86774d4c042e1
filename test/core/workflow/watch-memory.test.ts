import { describe, expect, test } from 'vitest';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { deleteStoredWatch } from '../../../core/watch/control-watch.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import { TransientError } from '../../../core/errors.ts';
import { addSeconds } from '../../../core/time.ts';
import { ago, tick, visitor } from '../../support/watches/scanned-watch.ts';
import { alertEvents, createWatch, run, stored, watchId, world } from '../../support/watches/watch-world.ts';

const scene = { scene: 'A person at a gate', objects: ['person'] };

async function remembered() {
  const watches = [{ watchId, from: new Date(0) }];
  const query = { caller: 'caller', watches, to: addSeconds(world.clock.now, 1), limit: 100 };
  return (await world.c.moments.list(query, world.clock.now)).moments;
}

/** Lets the model describe each picture that it is asked to. Returns whether it was asked. */
function describeScenes(): boolean[] {
  const asked: boolean[] = [];
  const { judge } = world.c.vision;
  world.c.vision.judge = async (media, ...rest) => {
    asked.push(media.describes ?? false);
    return { ...(await judge(media, ...rest)), ...scene };
  };
  return asked;
}

function pictures(folder: string): string[] {
  return [...world.pictures.keys()].filter((key) => key.startsWith(`${folder}/`)).toSorted();
}

async function patch(fields: object): Promise<void> {
  const edit = { watchId, patch: watchPatchSchema.parse(fields), ifMatch: undefined };
  await editWatch(edit, 'caller', world.c, (merged) => watchRequestSchema.parse(merged));
}

describe('the memory of a watch', () => {
  test('a tick stores each judged picture with its time, its verdicts and what it shows', async () => {
    const first = await createWatch({ memory: 3 });
    describeScenes();
    const clear = await run(first, 1);
    await tick(clear, visitor(6, 4), [true, true, false]);
    const moments = await remembered();
    expect(moments).toMatchObject([
      {
        at: world.clock.now.toISOString(),
        verdicts: [{ condition_id: 'person', triggered: false }],
        ...scene,
      },
      { at: ago(4), verdicts: [{ triggered: true, explanation: 'It is there.' }] },
      { at: ago(6), verdicts: [{ triggered: true }], judged_by: 'scripted' },
      { verdicts: [{ triggered: false }], ...scene },
    ]);
    const keys = moments.map(({ frame_key: key }) => String(key));
    expect(pictures('moments/3')).toEqual(keys.toSorted());
    expect(world.pictures.get(keys[1] ?? '')?.[2]).toBe(4);
    expect(pictures('captures')).toEqual([]);
    expect(pictures('evidence')).toHaveLength(1);
  });

  test('a moment that the next check replaces as newest frame keeps its picture', async () => {
    await run(await createWatch({ memory: 3 }), 3);
    expect(await remembered()).toHaveLength(3);
    expect(pictures('moments/3')).toHaveLength(3);
  });

  test('a picture that nobody judged is removed when another one follows', async () => {
    const clear = await run(await createWatch({ memory: 3 }), 1);
    world.script.moved.push(false, false);
    await run(clear, 2);
    expect(await remembered()).toHaveLength(1);
    expect(pictures('moments/3')).toHaveLength(2);
  });

  test('a failed call leaves no moment', async () => {
    const step = await createWatch({ memory: 3 });
    world.script.verdicts.push(new Error('down'));
    await expect(run(step, 1)).rejects.toThrow('down');
    expect(await remembered()).toEqual([]);
  });

  test('a tick that cannot be stored with its moments is stored without them, and counts them', async () => {
    const clear = await run(await createWatch({ memory: 3 }), 1);
    const { commit } = world.c.runs;
    world.c.runs.commit = async (change) => {
      if (change.moments?.length) throw new TransientError('The disk is full');
      return commit(change);
    };
    await tick(clear, visitor(6, 4), [true, true, false]);
    expect((await alertEvents()).map(({ type }) => type)).toContain('alert_opened');
    expect(await remembered()).toHaveLength(1);
    expect(pictures('moments/3')).toHaveLength(2);
    expect(pictures('evidence')).toHaveLength(1);
    expect(await world.c.meter.read()).toMatchObject({ momentsDropped: 3 });
  });

  test('a watch without memory stores no moment and asks for no description', async () => {
    const first = await createWatch();
    const asked = describeScenes();
    await run(first, 2);
    expect([await remembered(), asked, pictures('moments')]).toEqual([[], [false, false], []]);
  });

  test('a watch without scene asks for no description and stores its moments', async () => {
    await createWatch({ memory: 3 });
    await patch({ scene: false });
    const asked = describeScenes();
    await run(await world.begin({ run_id: watchId, generation: (await stored()).generation }), 1);
    expect(asked).toEqual([false]);
    expect(await remembered()).toHaveLength(1);
  });

  test('a tick whose commit was answered too late keeps the pictures of the first attempt', async () => {
    const clear = await run(await createWatch({ memory: 3 }), 1);
    const { commit } = world.c.runs;
    let isFirst = true;
    world.c.runs.commit = async (change) => {
      const result = await commit(change);
      const isLost = isFirst;
      isFirst = false;
      return isLost ? 'outdated' : result;
    };
    await tick(clear, visitor(6, 4), [true, true, false]);
    const keys = (await remembered()).map(({ frame_key: key }) => String(key));
    expect(keys).toHaveLength(4);
    expect(pictures('moments/3')).toEqual(keys.toSorted());
  });
});

describe('forgetting', () => {
  test('a change to fewer days removes what is older, with the pictures', async () => {
    const step = await run(await createWatch({ memory: 3 }), 1);
    world.advance(2 * 86_400);
    await run(step, 1);
    await patch({ memory_days: 1 });
    const [only, ...others] = await remembered();
    expect(others).toEqual([]);
    expect(pictures('moments')).toEqual([only?.frame_key]);
    await patch({ memory_days: 0 });
    expect([await remembered(), pictures('moments')]).toEqual([[], []]);
    expect((await stored()).config.memory_days).toBe(0);
  });

  test('the deletion of a watch removes its moments with their pictures', async () => {
    await run(await createWatch({ memory: 3 }), 2);
    await deleteStoredWatch(watchId, 'caller', world.c);
    expect([await remembered(), pictures('moments')]).toEqual([[], []]);
  });
});
