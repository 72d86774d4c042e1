import { expect, test } from 'vitest';
import { DiskFullError, StreamFetchError, TransientError } from '../../../core/errors.ts';
import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import { watchRequestSchema, type WatchPatch } from '../../../core/requests/watches.ts';
import { addSeconds } from '../../../core/time.ts';
import { deleteStoredWatch } from '../../../core/watch/control-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { presentAlert } from '../../../core/watch/present-watch.ts';
import type { QueueMessage } from '../../../core/records/delivery.ts';
import type { Destination } from '../../../core/records/watch.ts';
import { readAlertClip } from '../../../core/watch/read-frames.ts';
import { createMakeClip, recordClip } from '../../../core/watch/record-clip.ts';
import { repairRun } from '../../../core/workflow/repair.ts';
import { destination } from '../../support/watches/watch-records.ts';
import { createWatch, stored, watchId, world } from '../../support/watches/watch-world.ts';

const film = new Uint8Array([0, 1, 2]);

/** Opens an alert of a watch with clips. `answer` is what the stream gives. */
async function open(
  answer: (request: ClipRequest) => Promise<ClipResult> | ClipResult,
  prepare: () => Promise<void> = async () => undefined,
  destinations: Destination[] = [],
) {
  await createWatch({ toOpen: 1, clip: { before_seconds: 5, after_seconds: 3 }, destinations });
  await prepare();
  world.script.verdicts.push(true);
  await world.tick(await world.begin({ run_id: watchId, generation: (await stored()).generation }));
  const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
  const opening = events.find(({ type }) => type === 'alert_opened');
  if (opening?.type !== 'alert_opened') throw new Error('No alert has opened');
  const { sequence, data } = opening;
  const requests: ClipRequest[] = [];
  const streams = {
    clip: async (request: ClipRequest) => {
      requests.push(request);
      const result = await answer(request);
      if (result.kind === 'clip') await request.store(film);
      return result;
    },
  };
  return {
    requests,
    openedAt: new Date(data.opened_at),
    record: () =>
      recordClip(
        { clip: watchId, sequence },
        { ...world.c, makeClip: createMakeClip({ ...world.c, streams }) },
      ),
    alert: async () => {
      const alert = await world.c.runs.alert(data.alert_id, world.clock.now);
      return alert && presentAlert(alert, world.c);
    },
    events: async () => {
      const all = await world.c.watches.events(watchId, sequence, 100, world.clock.now);
      return all.filter(({ type }) => type === 'alert_clip').map((event) => event.data);
    },
    clips: () => [...world.pictures.keys()].filter((key) => key.startsWith('clips/')),
    alertId: data.alert_id,
    sequence,
  };
}

const made = ({ from, to }: ClipRequest): ClipResult => ({
  kind: 'clip',
  bytes: film.length,
  from,
  to,
  codec: 'avc1',
});

test('the clip of an opening is stored with its alert, and its event says what it shows', async () => {
  const clip = await open(made);
  expect(await clip.record()).toEqual({ kind: 'done' });
  const { openedAt: at, alertId } = clip;
  const span = { from: addSeconds(at, -5).toISOString(), to: addSeconds(at, 3).toISOString() };
  const described = { ...span, bytes: 3, codec: 'avc1', reason: null };
  const { source_id: sourceId } = await stored();
  expect(clip.clips()).toEqual([`clips/7/${sourceId}/${alertId}.mp4`]);
  expect(await clip.events()).toMatchObject([{ ...described, alert_id: alertId, opening: clip.sequence }]);
  expect((await clip.alert())?.clip).toEqual({
    ...described,
    clip_url: `${world.c.baseUrl}/alerts/${alertId}/clip`,
  });
  expect(clip.requests).toMatchObject([{ caller: 'caller', mode: 'frames', openedAt: at }]);
});

test('a clip is read on the clock of its stream, which no response tells', async () => {
  const capturedAt = addSeconds(world.clock.now, -7200);
  const clip = await open(made, async () => void world.script.captures.push({ capturedAt }));
  await clip.record();
  const behindSeconds = (clip.openedAt.getTime() - capturedAt.getTime()) / 1000;
  expect(clip.requests).toMatchObject([{ openedAt: clip.openedAt, behindSeconds }]);
  expect(behindSeconds).toBeGreaterThanOrEqual(7200);
  expect(await clip.alert()).not.toHaveProperty('behind_seconds');
});

test('a part of a clip is read from storage, until it is gone', async () => {
  const clip = await open(made);
  const read = async () => readAlertClip(clip.alertId, 'caller', world.c);
  await expect(read()).rejects.toThrow('This alert has no clip');
  await clip.record();
  const opened = await read();
  expect(opened).toMatchObject({ bytes: 3, tag: `${clip.alertId}.mp4-3` });
  expect(await opened.read({ first: 1, last: 1 })).toEqual(film.subarray(1, 2));
  await world.c.media.remove(clip.clips());
  await expect(opened.read({ first: 1, last: 1 })).rejects.toThrow('The clip was removed');
});

test('a repeated message makes no second clip', async () => {
  const clip = await open(made);
  await clip.record();
  await clip.record();
  expect([clip.requests.length, (await clip.events()).length, clip.clips().length]).toEqual([1, 1, 1]);
});

test('two concurrent messages of an opening give one clip', async () => {
  const clip = await open(made);
  await Promise.all([clip.record(), clip.record()]);
  expect([(await clip.events()).length, clip.clips().length]).toEqual([1, 1]);
});

test('a clip whose end has not come is read again', async () => {
  const clip = await open(() => ({ kind: 'pending', afterSeconds: 3 }));
  expect(await clip.record()).toEqual({ kind: 'again', afterSeconds: 3 });
  expect([await clip.events(), (await clip.alert())?.clip]).toEqual([[], null]);
});

test.each<[string, () => ClipResult | Promise<ClipResult>, string]>([
  ['a stream without it', () => ({ kind: 'none', reason: 'It is gone' }), 'It is gone'],
  [
    'a stream that fails',
    () => Promise.reject(new StreamFetchError('Try again.', 'The camera is off')),
    'The camera is off',
  ],
])('the event says why there is no clip: %s', async (_why, answer, reason) => {
  const clip = await open(answer);
  expect(await clip.record()).toEqual({ kind: 'done' });
  expect(await clip.events()).toMatchObject([{ clip_key: null, bytes: null, reason }]);
  expect((await clip.alert())?.clip).toMatchObject({ clip_url: null, reason });
  expect(clip.clips()).toEqual([]);
});

test.each<[string, (die: () => Promise<never>) => void]>([
  ['before its film is stored', (die) => void (world.c.media.put = die)],
  [
    'after its film is stored',
    (die) => {
      const { put } = world.c.media;
      world.c.media.put = async (...input) => put(...input).then(die);
    },
  ],
  ['before it is committed', (die) => void (world.c.runs.commit = die)],
  [
    'after it is committed',
    (die) => {
      const { commit } = world.c.runs;
      world.c.runs.commit = async (change) => commit(change).then(die);
    },
  ],
  ['while the stream is read', (die) => void (world.c.runs.alert = die)],
])('a process that dies %s loses no clip, and makes no second one', async (_when, kill) => {
  const clip = await open(made);
  const [media, runs] = [{ ...world.c.media }, { ...world.c.runs }];
  kill(() => Promise.reject(new Error('Killed')));
  await expect(clip.record()).rejects.toThrow('Killed');
  Object.assign(world.c.media, media);
  Object.assign(world.c.runs, runs);
  expect(await clip.record()).toEqual({ kind: 'done' });
  expect([(await clip.events()).length, clip.clips().length]).toEqual([1, 1]);
});

test('a process that dies before the messages of an opening or a clip sends each once after the next start', async () => {
  const sent: QueueMessage[] = [];
  let isDead = true;
  const restart = async () => {
    isDead = false;
    await repairRun(watchId, world.c);
    await repairRun(watchId, world.c);
    isDead = true;
    return sent.splice(0);
  };
  const send = async (message: QueueMessage) => {
    if (isDead) throw new Error('Killed');
    sent.push(message);
  };
  const hook = { ...destination, notify: 'everything' as const };
  const clip = await open(made, async () => void (world.c.queue = { send }), [hook]);
  const ofOpening = (await restart()).filter((each) => 'sequence' in each && each.sequence === clip.sequence);
  expect(ofOpening).toMatchObject([{ run: 'watch', attempt: 0 }, { clip: watchId }]);
  await clip.record();
  expect(await restart()).toMatchObject([
    { run: 'watch', destination_id: destination.destination_id, attempt: 0 },
  ]);
});

test('the film of an attempt that was cut is removed if the stream has lost the opening since', async () => {
  let answer = made;
  const clip = await open((request) => answer(request));
  const { commit } = world.c.runs;
  world.c.runs.commit = () => Promise.reject(new Error('Killed'));
  await expect(clip.record()).rejects.toThrow('Killed');
  expect(clip.clips()).toHaveLength(1);
  world.c.runs.commit = commit;
  answer = () => ({ kind: 'none', reason: 'It is gone' });
  expect(await clip.record()).toEqual({ kind: 'done' });
  expect([clip.clips(), await clip.events()]).toMatchObject([[], [{ reason: 'It is gone' }]]);
});

test.each<[string, WatchPatch, RegExp[]]>([
  ['its days were changed', { retention_days: 90 }, [/^clips\/90\//]],
  ['clips were turned off', { evidence_clip: null }, []],
])('the film of an attempt that was cut is removed if %s since', async (_what, patch, kept) => {
  const clip = await open(made);
  const { commit } = world.c.runs;
  world.c.runs.commit = () => Promise.reject(new Error('Killed'));
  await expect(clip.record()).rejects.toThrow('Killed');
  world.c.runs.commit = commit;
  await edit(patch);
  expect(await clip.record()).toEqual({ kind: 'done' });
  expect(clip.clips()).toEqual(kept.map((key) => expect.stringMatching(key)));
});

test('an attempt that finds no clip leaves that of a concurrent one', async () => {
  let answer = async (request: ClipRequest): Promise<ClipResult> => {
    answer = async (other) => made(other);
    await clip.record();
    return { kind: 'none', reason: `It is gone at ${request.url}` };
  };
  const clip = await open((request) => answer(request));
  expect(await clip.record()).toEqual({ kind: 'done' });
  expect([clip.clips().length, await clip.events()]).toMatchObject([1, [{ reason: null }]]);
});

test.each([
  [new DiskFullError('The disk is full. Free some space'), ': its disk is full'],
  [new TransientError('Check its owner'), ''],
  [new Error('A defect'), ''],
])(
  'a fault of this machine repeats the message for ten minutes, and its reason is for callers: %s',
  async (fault, why) => {
    const clip = await open(made);
    world.c.media.put = () => Promise.reject(fault);
    for (const seconds of [0, 599]) {
      world.advance(seconds);
      await expect(clip.record()).rejects.toThrow(fault.message);
    }
    expect(await clip.events()).toEqual([]);
    world.advance(1);
    expect(await clip.record()).toEqual({ kind: 'done' });
    const reason = `The service could not make or store the clip in ten minutes${why}`;
    expect(await clip.events()).toMatchObject([{ clip_key: null, reason }]);
  },
);

test('a clip for a watch that was deleted meanwhile is removed', async () => {
  const clip = await open(async (request) => {
    await deleteStoredWatch(watchId, 'caller', world.c);
    return made(request);
  });
  expect(await clip.record()).toEqual({ kind: 'done' });
  expect(clip.clips()).toEqual([]);
});

const edit = async (patch: WatchPatch) => {
  const validate = (merged: unknown) => watchRequestSchema.parse(merged);
  await editWatch({ watchId, patch, ifMatch: undefined }, 'caller', world.c, validate);
};
const points = [
  [0, 0],
  [0.5, 0],
  [0.5, 0.5],
];
const hedge = { mode: 'exclude' as const, points };

test.each<[string, WatchPatch]>([
  ['another stream', { stream_url: 'https://other.example/live.m3u8' }],
  ['other regions', { regions: [hedge] }],
])('an opening has no clip once its watch has %s', async (_what, patch) => {
  const clip = await open(made);
  await edit(patch);
  expect(await clip.record()).toEqual({ kind: 'done' });
  const reason = 'The stream or its regions were changed around the opening';
  expect(await clip.events()).toMatchObject([{ clip_key: null, reason }]);
  expect([clip.requests, clip.clips()]).toEqual([[], []]);
});

test('a change that leaves stream and regions leaves the clip', async () => {
  const clip = await open(made);
  world.c.limits.evidenceClip = null;
  await edit({ name: 'Gate, north', evidence_clip: { before_seconds: 2, after_seconds: 1 } });
  await clip.record();
  expect([clip.requests.length, clip.clips().length]).toEqual([1, 1]);
});

test('a clip begins at the earliest with the change that gave its watch the regions of the opening', async () => {
  const clip = await open(made, async () => {
    await edit({ regions: [hedge] });
    world.advance(2);
  });
  await clip.record();
  expect(clip.requests.map(({ from }) => from)).toEqual([addSeconds(clip.openedAt, -2)]);
});

test('the clip is erased with its watch', async () => {
  const clip = await open(made);
  await clip.record();
  await deleteStoredWatch(watchId, 'caller', world.c);
  expect(clip.clips()).toEqual([]);
  expect(await clip.record()).toEqual({ kind: 'done' });
});

test.each([
  [10, 40],
  [60, 90],
  [300, 150],
])(
  'a stream that is checked every %i s is kept for %i s, since an opening may be the first of a scan',
  async (interval, kept) => {
    await open(made);
    await edit({ interval_seconds: interval });
    const source = await world.c.runs.source((await stored()).source_id);
    expect(source?.clip_seconds).toBe(kept);
  },
);
