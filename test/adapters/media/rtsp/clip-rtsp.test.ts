import { expect, test } from 'vitest';
import { openUnhurriedRunner } from '../../../support/hls/recording.ts';
import { readFilm } from '../../../support/read-film.ts';
import { openPlayedSession } from '../../../support/rtsp/played-session.ts';

const runner = openUnhurriedRunner();
const options = { keyFrameEvery: 20, seconds: 17 };

type Camera = Awaited<ReturnType<typeof openPlayedSession>>;

async function film(camera: Camera, ...span: [openedAt: number, before: number, after: number]) {
  const { film: bytes, ...clip } = await camera.clip(...span);
  if (clip.kind !== 'clip') return clip;
  const shown = await readFilm(bytes);
  const [first = NaN, last = NaN] = [shown[0], shown.at(-1)].map((moment) => Math.round(moment ?? NaN));
  const seconds = (clip.to.getTime() - clip.from.getTime()) / 1000;
  return { codec: clip.codec, first, last, frames: shown.length, seconds };
}

test.each([
  ['h264', 'avc1'],
  ['h265', 'hvc1'],
] as const)(
  'a clip of a session has the groups of pictures around the opening (%s)',
  async (codec, entry) => {
    const camera = await openPlayedSession(runner, { ...options, codec });
    camera.playTo(1);
    await camera.lookBack(null, { clipBeforeSeconds: 8 });
    camera.playTo(15);
    const clip = await film(camera, 8, 4, 4);
    expect(clip).toEqual({ codec: entry, first: 4, last: 12, frames: 80, seconds: 8 });
  },
);

test('a clip is pending until the group with its end is over, and has what there is of a lost camera', async () => {
  const camera = await openPlayedSession(runner, options);
  camera.playTo(1);
  await camera.lookBack(null, { clipBeforeSeconds: 8 });
  camera.playTo(9);
  expect(await film(camera, 6, 4, 8)).toEqual({ kind: 'pending', afterSeconds: 3 });
  camera.setClock(17_100);
  expect(await film(camera, 6 - 17.1, 4, 8)).toMatchObject({ first: 2, last: 8 });
});

test.each([3, 11])('a clip continues with what comes after a restart of %s s', async (restartSeconds) => {
  const camera = await openPlayedSession(runner, options);
  camera.playTo(1);
  await camera.lookBack(null, { clipBeforeSeconds: 8 });
  camera.playTo(4 + restartSeconds);
  camera.forget();
  expect(await film(camera, 4, 4, 12)).toMatchObject({ kind: 'pending' });
  camera.playTo(16.5);
  expect(await film(camera, 4, 4, 12)).toMatchObject({ first: 3 + restartSeconds, last: 16 });
});

test('a clip has nothing of a stream whose watches want none', async () => {
  const camera = await openPlayedSession(runner, options);
  camera.playTo(1);
  await camera.lookBack(null);
  camera.playTo(16);
  expect(await film(camera, 3, 2, 1)).toMatchObject({ kind: 'none' });
});

test('a clip loses its begin to the bound of the memory', async () => {
  const camera = await openPlayedSession(runner, { ...options, clipBytes: 20_000 });
  camera.playTo(1);
  await camera.lookBack(null, { clipBeforeSeconds: 8 });
  camera.playTo(15);
  const clip = await film(camera, 13, 12, 0);
  expect(clip).toMatchObject({ last: 14 });
  expect('first' in clip && clip.first).toBeGreaterThan(2);
});

test('another size ends the clip, and an excluded region is black in each of its pictures', async () => {
  const next = { keyFrameEvery: 20, seconds: 6, size: '320x180' };
  const camera = await openPlayedSession(runner, { keyFrameEvery: 20, seconds: 8, next });
  camera.playTo(1);
  await camera.lookBack(null, { clipBeforeSeconds: 8 });
  camera.playTo(13.9);
  expect(await film(camera, 6, 4, 6)).toMatchObject({ first: 2, last: 8, seconds: 6 });
  const points = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const { film: masked } = await camera.clip(11, 2, 1, [{ mode: 'exclude', points }]);
  const shown = await readFilm(masked);
  expect(shown.length).toBeGreaterThan(20);
  // Black is 2.5 s before the begin of the recording.
  expect(Math.max(...shown)).toBeLessThan(0);
});
