import { describe, expect, test } from 'vitest';
import { toNotification } from '../../../core/delivery/notification.ts';
import { deleteStoredWatch } from '../../../core/watch/control-watch.ts';
import { createWatch } from '../../../core/watch/create-watch.ts';
import type { Platform } from '../../../core/records/platform.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { presentWatchEvent } from '../../../core/watch/present-watch.ts';
import { watchRequestSchema, type WatchPatch } from '../../../core/requests/watches.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;

async function begin(fields: Record<string, unknown> = {}) {
  world = createWorld();
  const conditions = [{ condition: 'a person', condition_id: 'person', checks_to_close: 2 }];
  const request = {
    name: 'Gate',
    stream_url: 'https://user:one@camera-a.example/live.m3u8?token=1',
    conditions,
    ...fields,
  };
  const watch = await createWatch(watchRequestSchema.parse(request), 'alice', world.c);
  return { watchId: watch.run_id, step: await world.begin({ run_id: watch.run_id, generation: 0 }) };
}

async function edit(watchId: string, patch: WatchPatch) {
  const validate = (merged: unknown) => watchRequestSchema.parse(merged);
  const watch = await editWatch({ watchId, patch, ifMatch: undefined }, 'alice', world.c, validate);
  const step = await world.begin({ run_id: watchId, generation: watch.generation });
  return { watch, step };
}

async function run(step: WorkflowState, verdicts: boolean[]): Promise<WorkflowState> {
  world.script.verdicts.push(...verdicts);
  let current = step;
  for (const _ of verdicts) current = await world.tick(current);
  return current;
}

async function reports(watchId: string) {
  const events = await world.c.watches.events(watchId, 0, 1000, world.c.now());
  return events.flatMap(({ type, data }) =>
    type === 'alert_closed' ? [`${type} ${data.reason}`] : type === 'progress' ? [] : [type],
  );
}

describe('an edit of a watch', () => {
  test.each([
    { name: 'Gate, north' },
    { stream_url: 'https://user:two@camera-a.example/live.m3u8?token=2' },
    { stream_url: 'https://camera-a.example/live.m3u8' },
  ])(
    'an edit keeps what was seen of the same stream, so that no picture is judged twice (%j)',
    async (patch) => {
      const { watchId, step } = await begin();
      const same = { position: { segment: '77:/77.ts', segment_seconds: 6 } };
      world.script.captures.push(same, same);
      await run(step, [true]);
      world.advance(1);
      const edited = await edit(watchId, patch);
      await run(edited.step, [true]);
      const { conditions } = (await world.c.watches.get(watchId, new Date(0)))!.state;
      expect(conditions[0]).toMatchObject({ history: '1', phase: 'clear' });
      expect(await reports(watchId)).not.toContain('alert_opened');
    },
  );

  test('two ticks that capture the same picture around an edit count it once', async () => {
    const { watchId, step } = await begin();
    const same = { position: { segment: '77:/77.ts', segment_seconds: 6 } };
    world.script.captures.push(same, same);
    const { judge } = world.c.vision;
    let calls = 0;
    world.c.vision.judge = async (...given) => {
      calls += 1;
      if (calls === 1) await run((await edit(watchId, { name: 'Gate, north' })).step, [true]);
      return judge(...given);
    };
    await run(step, [true]);
    const { conditions } = (await world.c.watches.get(watchId, new Date(0)))!.state;
    expect(calls).toBe(2);
    expect(conditions[0]).toMatchObject({ history: '1', phase: 'clear' });
  });

  test.each([
    'https://user:one@camera-b.example/live.m3u8?token=1',
    'https://camera-a.example/other.m3u8',
    'https://user:one@camera-a.example/live.m3u8?token=1&channel=2',
  ])(
    'an edit of the stream to %s closes the alerts as changed, and the conditions begin again',
    async (url) => {
      const { watchId, step } = await begin();
      await run(step, [true, true]);
      const edited = await edit(watchId, { stream_url: url });
      expect(edited.watch.state.conditions[0]).toMatchObject({ phase: 'unknown', alert: null });
      expect(edited.step.capture).toMatchObject({ seen: null, motion: null });
      await run(edited.step, [false, false]);
      expect(await reports(watchId)).toEqual([
        'watch_changed',
        'alert_opened',
        'alert_closed changed',
        'watch_changed',
      ]);
    },
  );

  test('events name the stream of their time, also after another one has replaced it', async () => {
    const { watchId, step } = await begin();
    await run(step, [true, true]);
    world.advance(10);
    await run((await edit(watchId, { stream_url: 'https://camera-b.example/live.m3u8' })).step, [true]);
    world.advance(10);
    const { watch } = await edit(watchId, { stream_url: 'https://camera-c.example/live.m3u8' });
    const events = await world.c.watches.events(watchId, 0, 1000, world.c.now());
    const named = events.map((event) => {
      const { type, source_url: url } = presentWatchEvent(watch, event, '');
      return `${type} ${new URL(url).hostname.replace('.example', '')}`;
    });
    const seen = 'progress camera-a';
    const [opened, ended] = ['alert_opened camera-a', 'alert_closed camera-a'];
    const changes = ['a', 'b', 'c'].map((name) => `watch_changed camera-${name}`);
    expect(named).toEqual([
      changes[0],
      seen,
      seen,
      opened,
      ended,
      changes[1],
      'progress camera-b',
      changes[2],
    ]);
    const toSent = (event: (typeof events)[number]) =>
      toNotification(event, watch, { type: 'webhook', include_frame: false }, world.c);
    const sent = await Promise.all(events.map(toSent));
    expect(sent.map(({ sourceUrl }) => sourceUrl)).toEqual(
      events.map((event) => presentWatchEvent(watch, event, '').source_url),
    );
  });

  test('a watch looks back from its creation, until an edit ends it; null restores the default', async () => {
    const { watchId } = await begin();
    const read = async () => {
      const watch = (await world.c.watches.get(watchId, new Date(0)))!;
      return [watch.config.look_back, (await world.c.runs.source(watch.source_id))?.look_back];
    };
    const seen = [await read()];
    for (const look_back of [false, null]) {
      await edit(watchId, { look_back });
      seen.push(await read());
    }
    expect(seen).toEqual([
      [true, true],
      [false, false],
      [true, true],
    ]);
  });

  test('an edit continues the scan of the same stream', async () => {
    const { watchId, step } = await begin();
    world.script.captures.push({ position: { segment: '7:/7.ts', segment_seconds: 2, scan: 's7' } });
    await run(step, [false]);
    const { step: edited } = await edit(watchId, { name: 'Gate, north' });
    const requests: unknown[] = [];
    const { capture } = world.c.streams;
    world.c.streams.capture = (...given) => {
      requests.push(given[0].lookBack);
      return capture(...given);
    };
    await run(edited, [false]);
    expect(requests).toEqual([{ since: 's7' }]);
  });

  test.each<WatchPatch>([
    {},
    { name: 'Gate' },
    { stream_url: 'https://user:one@camera-a.example/live.m3u8?token=1' },
  ])('an edit that changes nothing does nothing (%j)', async (patch) => {
    const { watchId, step } = await begin();
    await run(step, [true]);
    const before = (await world.c.watches.get(watchId, new Date(0)))!;
    const { watch } = await edit(watchId, patch);
    expect(watch).toEqual({ ...before, former: [] });
  });
});

describe('pictures of a watch', () => {
  test('a deletion removes all of them, those of reminders too', async () => {
    const conditions = [{ condition: 'a person', remind_seconds: 60, checks_to_close: 2 }];
    const { watchId, step } = await begin({ retention_days: 90, enable_prefilter: false, conditions });
    await run(
      step,
      Array.from({ length: 30 }, () => true),
    );
    expect(world.pictures.size).toBeGreaterThan(4);
    await deleteStoredWatch(watchId, 'alice', world.c);
    expect([...world.pictures.keys()]).toEqual([]);
  });

  test('a tick whose watch is deleted during its model call leaves none', async () => {
    const { watchId, step } = await begin();
    const opened = await run(step, [true]);
    const { judge } = world.c.vision;
    world.c.vision.judge = async (...given) => {
      await deleteStoredWatch(watchId, 'alice', world.c);
      return judge(...given);
    };
    await run(opened, [true]);
    expect([...world.pictures.keys()]).toEqual([]);
  });

  test('a tick whose watch is deleted during its capture leaves none', async () => {
    const { watchId, step } = await begin();
    const { capture } = world.c.streams;
    world.c.streams.capture = async (...given) => {
      await deleteStoredWatch(watchId, 'alice', world.c);
      return capture(...given);
    };
    await run(step, [true]);
    expect([...world.pictures.keys()]).toEqual([]);
  });

  test('a tick whose watch is deleted before its commit leaves no evidence', async () => {
    const { watchId, step } = await begin();
    const { put } = world.c.media;
    let stored = 0;
    world.c.media.put = async (key, ...rest) => {
      if (key.startsWith('evidence/')) {
        stored += 1;
        await deleteStoredWatch(watchId, 'alice', world.c).catch(() => undefined);
      }
      return put(key, ...rest);
    };
    await run(step, [true, true]);
    expect(stored).toBe(1);
    expect([...world.pictures.keys()]).toEqual([]);
  });

  test('an alert and its pictures keep the retention of the opening', async () => {
    const { watchId, step } = await begin({ retention_days: 90 });
    await run(step, [true, true]);
    const { step: edited } = await edit(watchId, { retention_days: 1 });
    await run(edited, [false, false]);
    const [alert] = await world.c.watches.alerts({ caller: 'alice', limit: 1 }, world.c.now());
    const days = (Date.parse(alert!.expires_at!) - Date.parse(alert!.closed!.at)) / 86_400_000;
    expect(days).toBe(90);
    for (const key of [alert!.frame_key, alert!.closed!.frame_key]) {
      expect(key).toMatch(/^evidence\/90\//);
      expect(world.pictures.has(key ?? '')).toBe(true);
    }
  });
});

describe('an edit of a watch with what the service has ceased to serve', () => {
  const clip = { before_seconds: 8, after_seconds: 8 };
  const serve = async (fields: Record<string, unknown> = {}) => {
    world = createWorld();
    world.c.limits.evidenceClip = clip;
    world.c.limits.wakesOnMotion = true;
    const conditions = [{ condition: 'a person' }];
    const stream = { name: 'Gate', stream_url: 'https://camera-a.example/live.m3u8' };
    const request = watchRequestSchema.parse({ ...stream, conditions, ...fields });
    return (await createWatch(request, 'alice', world.c)).run_id;
  };
  const gives = (platform: Platform) => {
    world.c.streams.probe = async (url) => ({ platform, playbackUrl: url });
  };
  const mail: WatchPatch['destinations'] = [
    {
      type: 'email',
      to: 'duty@example.org',
      notify: null,
      min_severity: 'info',
      include_frame: false,
      include_clip: true,
    },
  ];
  const camera = { stream_url: 'https://camera-a.example/snapshot.jpg' };

  test.each<[string, Record<string, unknown>, () => void, WatchPatch]>([
    ['a clip', {}, () => delete world.c.limits.evidenceClip, { evidence_clip: clip }],
    ['follow', { follow: true }, () => delete world.c.limits.wakesOnMotion, { follow: true }],
    [
      'a budget in dollars',
      { budget: { usd_per_day: 1 } },
      () => (world.c.modelPrice = null),
      { budget: { usd_per_day: 2 } },
    ],
    [
      'a destination',
      { destinations: mail },
      () => (world.c.destinations.reasonToRefuse = () => 'No mail'),
      { destinations: mail },
    ],
    [
      'an input mode',
      { input_mode: 'clip' },
      () => (world.c.vision.capabilities.supportsVideo = false),
      { input_mode: 'hybrid' },
    ],
  ])('changes other fields, and refuses %s that it names', async (_what, fields, cease, named) => {
    const watchId = await serve(fields);
    const { config } = (await world.c.watches.get(watchId, world.c.now()))!;
    cease();
    const { watch } = await edit(watchId, { name: 'Gate, north' });
    expect(watch.config).toEqual({ ...config, name: 'Gate, north' });
    await expect(edit(watchId, named)).rejects.toThrow();
  });

  test('a stream of single pictures has no clip unless the patch asks for one', async () => {
    const watchId = await serve();
    gives('jpeg');
    await expect(edit(watchId, { ...camera, evidence_clip: clip })).rejects.toThrow();
    const { watch } = await edit(watchId, camera);
    expect(watch.config.evidence_clip).toBeNull();
    await expect(edit(watchId, { evidence_clip: clip })).rejects.toThrow();
  });
});
