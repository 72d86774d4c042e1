import { describe, expect, test } from 'vitest';
import {
  acknowledgeOwnAlert,
  deleteStoredWatch,
  pauseStoredWatch,
  resumeStoredWatch,
  snoozeStoredWatch,
} from '../../../core/watch/control-watch.ts';
import { createWatch } from '../../../core/watch/create-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { createWorld } from '../../support/world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const person = {
  condition: 'a person',
  condition_id: 'person',
  checks_to_open: 1,
  checks_considered: 1,
  checks_to_close: 1,
};
const cat = { ...person, condition: 'a cat', condition_id: 'cat' };
const triangle = [
  [0, 0],
  [0.5, 0],
  [0.5, 1],
] as const;
const everyDay = { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '23:59' };
const url = 'https://user:one@camera.example/live.m3u8';

let world: ReturnType<typeof createWorld>;

/** Begins a watch whose model can be interrupted by an edit. */
async function begin() {
  world = createWorld();
  const { c, script } = world;
  world.database.prepare('INSERT OR IGNORE INTO callers VALUES (?, ?)').run('callera', '{}');
  const request = watchRequestSchema.parse({ name: 'Gate', stream_url: url, conditions: [person] });
  const { run_id: watchId } = await createWatch(request, 'callera', c);
  let interrupt: (() => Promise<void>) | undefined;
  c.vision = {
    ...c.vision,
    judge: judgingEach(async () => {
      const edit = interrupt;
      interrupt = undefined;
      world.advance(2);
      await edit?.();
      world.advance(2);
      const triggered = script.verdicts.shift() === true;
      return { triggered, explanation: 'x', tokens: { input_tokens: 7, output_tokens: 1 } };
    }),
  };
  const patch = async (fields: object) => {
    const edit = { watchId, patch: watchPatchSchema.parse(fields), ifMatch: undefined };
    await editWatch(edit, 'callera', c, (merged) => watchRequestSchema.parse(merged));
  };
  let step: WorkflowState = await world.begin({ run_id: watchId, generation: 0 });
  return {
    watchId,
    patch,
    /** Runs a tick with a verdict. `edit` is made while the model judges. */
    tick: async (verdict: boolean, edit?: () => Promise<void>) => {
      script.verdicts.push(verdict);
      interrupt = edit;
      step = await world.tick(step);
    },
    alerts: async () => {
      const found = await c.watches.alerts({ caller: 'callera', limit: 10 }, c.now());
      return found.map(({ closed }) => closed?.reason ?? 'open');
    },
  };
}

type Gate = Awaited<ReturnType<typeof begin>>;
type Edit = [name: string, edit: (gate: Gate) => Promise<unknown>];

/** Edits after which the question, the picture and the time of a tick under way are those of the watch. */
const harmless: Edit[] = [
  ...Object.entries({
    name: 'Door',
    interval_seconds: 20,
    confirm_seconds: 1,
    clip_duration_seconds: 5,
    input_mode: 'hybrid',
    enable_prefilter: false,
    look_back: false,
    retention_days: 30,
    memory_days: 7,
    scene: false,
    labels: ['north'],
    budget: { model_calls_per_day: 100 },
    destinations: [{ type: 'webhook', url: 'https://duty.example/hook' }],
    stream_url: 'https://user:two@camera.example/live.m3u8',
  }).map(([name, value]): Edit => [name, ({ patch }) => patch({ [name]: value })]),
  ...Object.entries({
    severity: 'critical',
    checks_considered: 2,
    cooldown_seconds: 60,
    close_after_seconds: 0,
    remind_seconds: 60,
  }).map(([name, value]): Edit => [
    `condition.${name}`,
    ({ patch }) => patch({ conditions: [{ ...person, [name]: value }] }),
  ]),
  ['another condition', ({ patch }) => patch({ conditions: [person, cat] })],
];

const inTurn =
  (...patches: Parameters<Gate['patch']>[0][]): Edit[1] =>
  async ({ patch }) => {
    for (const each of patches) await patch(each);
  };

/** Edits that make what a tick under way saw invalid. */
const invalidating: Edit[] = [
  ['regions', ({ patch }) => patch({ regions: [{ mode: 'exclude', points: triangle }] })],
  ['schedule', ({ patch }) => patch({ schedule: { time_zone: 'UTC', active: [everyDay] } })],
  ['stream_url of another camera', ({ patch }) => patch({ stream_url: 'https://other.example/live.m3u8' })],
  ['condition.condition', ({ patch }) => patch({ conditions: [{ ...person, condition: 'a dog' }] })],
  ['condition.sensitivity', ({ patch }) => patch({ conditions: [{ ...person, sensitivity: 'high' }] })],
  [
    'text of a condition and back',
    inTurn({ conditions: [{ ...person, condition: 'a dog' }] }, { conditions: [person] }),
  ],
  ['regions and back', inTurn({ regions: [{ mode: 'exclude', points: triangle }] }, { regions: null })],
  ['removal of a condition, and its return', inTurn({ conditions: [cat] }, { conditions: [person] })],
  ['pause', async ({ watchId }) => pauseStoredWatch(watchId, 'callera', world.c)],
  [
    'pause and resume',
    async ({ watchId }) => {
      await pauseStoredWatch(watchId, 'callera', world.c);
      world.advance(2);
      await resumeStoredWatch(watchId, 'callera', world.c);
    },
  ],
];

/** Returns what the watch has counted and what its caller has paid. */
async function readCalls(watchId: string) {
  const day = world.clock.now.toISOString().slice(0, 10);
  const [use] = await world.c.usage.days('callera', day, day);
  const { total } = await readWatchStats({ watchId, from: undefined, to: undefined }, 'callera', world.c);
  return { usage: use?.use.model_calls, stats: total.model_calls };
}

/** Keys of the pictures that were stored since `before`. */
const added = (before: ReadonlySet<string>) => [...world.pictures.keys()].filter((key) => !before.has(key));

describe.each(harmless)('an edit of %s during a check', (_, edit) => {
  test('its result opens an alert, with its picture', async () => {
    const gate = await begin();
    await gate.tick(false);
    const before = new Set(world.pictures.keys());
    await gate.tick(true, async () => void (await edit(gate)));
    expect(await gate.alerts()).toEqual(['open']);
    expect(added(before).some((key) => key.startsWith('evidence/'))).toBe(true);
    expect(await readCalls(gate.watchId)).toEqual({ usage: 2, stats: 2 });
  });

  test('its result closes an alert', async () => {
    const gate = await begin();
    await gate.tick(true);
    await gate.tick(false, async () => void (await edit(gate)));
    expect(await gate.alerts()).toEqual(['cleared']);
  });
});

describe.each(invalidating)('an edit during a check: %s', (_, edit) => {
  test('its result opens no alert, leaves no picture, and is paid', async () => {
    const gate = await begin();
    await gate.tick(false);
    const before = new Set(world.pictures.keys());
    await gate.tick(true, async () => void (await edit(gate)));
    expect(await gate.alerts()).toEqual([]);
    expect(added(before).filter((key) => key.startsWith('evidence/'))).toEqual([]);
    expect(await readCalls(gate.watchId)).toEqual({ usage: 2, stats: 2 });
  });

  test('its result closes no alert', async () => {
    const gate = await begin();
    await gate.tick(true);
    await gate.tick(false, async () => void (await edit(gate)));
    expect(await gate.alerts()).not.toContain('cleared');
  });
});

test('every field of a watch and of its conditions has an edit', () => {
  const request = watchRequestSchema.parse({ name: 'Gate', stream_url: url, conditions: [person] });
  const fields = [
    ...Object.keys(watchPatchSchema.shape),
    ...Object.keys(request.conditions[0]!).map((name) => `condition.${name}`),
  ];
  const edited = [...harmless, ...invalidating].map(([name]) => name.split(' ')[0]);
  // The rule of the new numbers applies, and ids name a condition; only other hosts follow streams, or film alerts.
  const others = [
    'conditions',
    'follow',
    'evidence_clip',
    'condition.condition_id',
    'condition.alert_on',
    'condition.checks_to_open',
    'condition.open_after_seconds',
    'condition.checks_to_close',
  ];
  expect(fields.filter((name) => !edited.includes(name) && !others.includes(name))).toEqual([]);
});

test('a snooze during a check holds its opening back, and an acknowledgement leaves its closing', async () => {
  const gate = await begin();
  await gate.tick(false);
  const snooze = (seconds: number) =>
    snoozeStoredWatch({ watchId: gate.watchId, seconds, conditionId: undefined }, 'callera', world.c);
  await gate.tick(true, async () => void (await snooze(60)));
  expect(await gate.alerts()).toEqual([]);
  await snooze(0);
  await gate.tick(true);
  const [alert] = await world.c.watches.alerts({ caller: 'callera', limit: 1 }, world.c.now());
  await gate.tick(
    false,
    async () => void (await acknowledgeOwnAlert(alert!.alert_id, 'callera', 'me', world.c)),
  );
  expect(await gate.alerts()).toEqual(['cleared']);
});

test('an alert that closed before anybody acknowledged it is acknowledged later, once and without an event', async () => {
  const gate = await begin();
  await gate.tick(false);
  await gate.tick(true);
  await gate.tick(false);
  const [alert] = await world.c.watches.alerts({ caller: 'callera', limit: 1 }, world.c.now());
  expect(alert).toMatchObject({ acknowledged: null, closed: { reason: 'cleared' } });
  const acknowledge = (by: string) => acknowledgeOwnAlert(alert!.alert_id, 'callera', by, world.c);
  const before = (await world.c.runs.get(gate.watchId, world.c.now()))?.sequence;
  expect(await acknowledge('me')).toMatchObject({ acknowledged: { by: 'me' } });
  expect(await acknowledge('you')).toMatchObject({ acknowledged: { by: 'me' } });
  expect((await world.c.runs.get(gate.watchId, world.c.now()))?.sequence).toBe(before);
});

test('a deletion during a check leaves no alert and no picture, and the check is paid', async () => {
  const gate = await begin();
  await gate.tick(false);
  await gate.tick(true, async () => void (await deleteStoredWatch(gate.watchId, 'callera', world.c)));
  expect(await gate.alerts()).toEqual([]);
  expect([...world.pictures.keys()]).toEqual([]);
  const day = world.clock.now.toISOString().slice(0, 10);
  expect(await world.c.usage.days('callera', day, day)).toMatchObject([{ use: { model_calls: 2 } }]);
});

test('a new excluded region hides the picture from before it, also after a check under way', async () => {
  const gate = await begin();
  await gate.tick(false);
  const regions = () => gate.patch({ regions: [{ mode: 'exclude', points: triangle }] });
  await gate.tick(false, regions);
  expect([...world.pictures.keys()]).toEqual([]);
  expect(await world.c.watches.get(gate.watchId, world.c.now())).toMatchObject({
    sight: { last_frame: null },
  });
});
