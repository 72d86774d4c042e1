import { describe, expect, test } from 'vitest';
import type { FfmpegRunner } from '../../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import type { AccessUnit } from '../../../../../adapters/media/rtsp/rtp/access-unit-assembler.ts';
import { decodeOnArrival } from '../../../../../adapters/media/rtsp/scan/follow-session.ts';
import { scanSession } from '../../../../../adapters/media/rtsp/scan/scan-session.ts';
import { thumbnail } from '../../../../../core/records/capture.ts';
import { readPicture } from '../../../../support/read-picture.ts';

const never = new AbortController().signal;
const capturedAt = new Date('2026-11-20T12:00:00Z');
const request = { url: 'rtsp://c.example/', mode: 'frames', clipSeconds: 3, resolveAgain: false } as const;
const since = (session: string, number: number, secondsBefore: number) =>
  `${session} ${number} ${capturedAt.getTime() - secondsBefore * 1000}`;

const unit = (seconds: number, delayMs = 0): AccessUnit => ({
  bytes: new Uint8Array([seconds]),
  isKeyFrame: true,
  timestamp: seconds * 90_000,
  arrivedMs: seconds * 1000 + delayMs,
});

const decodeAll: FfmpegRunner['runAll'] = async ({ chunks }) => {
  const pictures: { frame: Uint8Array; thumbnail: Uint8Array }[] = [];
  for await (const frame of chunks) pictures.push({ frame, thumbnail: new Uint8Array(thumbnail.bytes) });
  return pictures;
};

/** Scans key frames of a session whose capture is the frame of second 20. */
function scan(
  units: AccessUnit[],
  position: string | null,
  { isWhole = true, runAll = decodeAll, caller = 'ada' } = {},
) {
  const newest = unit(20);
  const read = {
    units: [newest],
    kind: 'key frame' as const,
    ageMs: 0,
    codec: 'H264' as const,
    clockRate: 90_000,
    since: { units: [...units, newest], newest: 9, isWhole, sessionId: 'a', groups: [], keyFrameSeconds: 2 },
  };
  const ffmpeg = { run: () => Promise.reject(new Error('not needed')), runAll };
  return scanSession(read, capturedAt, { ...request, lookBack: { since: position }, caller }, ffmpeg, never);
}

const ages = ({ frames }: { frames: readonly { at: Date }[] }) =>
  frames.map(({ at }) => (capturedAt.getTime() - at.getTime()) / 1000);

test('key frames since the last capture have times by the clock of the camera', async () => {
  const { scan: found, position } = await scan([unit(12), unit(14, 900), unit(16)], since('a', 5, 10));
  expect(ages(found)).toEqual([8, 6, 4]);
  expect(found).toMatchObject({ coveredSeconds: 10, leftOutSeconds: 0, distanceSeconds: 4 });
  expect(position).toBe(`a 9 ${capturedAt.getTime()}`);
  expect((await readPicture(found, 1))?.length).toBeGreaterThan(0);
});

test('a camera that has set its clock has the times of arrival', async () => {
  const jumped = { ...unit(14), timestamp: 3_000_000_000 };
  expect(ages((await scan([unit(12), jumped], since('a', 5, 10))).scan)).toEqual([8, 6]);
});

test('time whose key frames the session has dropped is left out', async () => {
  const { scan: found } = await scan([unit(16), unit(18)], since('a', 5, 10), { isWhole: false });
  expect(found).toMatchObject({ coveredSeconds: 4, leftOutSeconds: 6 });
});

test('key frames of a new session from before the last capture are not scanned again', async () => {
  const { scan: found } = await scan([unit(8), unit(12), unit(16)], since('b', 99, 10), { isWhole: false });
  expect(ages(found)).toEqual([8, 4]);
  expect(found).toMatchObject({ coveredSeconds: 8, leftOutSeconds: 2 });
});

test('a first capture scans nothing', async () => {
  const { scan: found, position } = await scan([unit(12)], null, { isWhole: false });
  expect(found).toMatchObject({ frames: [], coveredSeconds: 0, leftOutSeconds: 0 });
  expect(position).toBe(`a 9 ${capturedAt.getTime()}`);
});

test('a key frame that cannot be decoded is left out, and the others keep their times', async () => {
  const runAll: FfmpegRunner['runAll'] = async (...call) => [null, ...(await decodeAll(...call)).slice(1)];
  expect(ages((await scan([unit(12), unit(14)], since('a', 5, 10), { runAll })).scan)).toEqual([6]);
});

test('a scan without any decoded key frame leaves out the whole time, and does not fail', async () => {
  const runAll = () => Promise.reject(new Error('no decoder'));
  const { scan: found } = await scan([unit(12)], since('a', 5, 10), { runAll });
  expect(found).toMatchObject({ frames: [], coveredSeconds: 0, leftOutSeconds: 10 });
});

describe('key frames that were decoded on their arrival', () => {
  const decodeOne: FfmpegRunner['runAll'] = async (...call) => {
    const [picture] = await decodeAll(...call);
    return [{ frame: picture!.frame, thumbnail: new Uint8Array(thumbnail.bytes).fill(7) }];
  };
  const track = { codec: 'H264' as const, clockRate: 90_000 };
  const run = () => Promise.reject(new Error('not needed'));

  test('a scan of the same caller decodes them no more, and that of another one does', async () => {
    const units = [unit(12), unit(14), unit(16)];
    const seen: number[] = [];
    const ffmpeg = { run, runAll: decodeOne };
    const arrive = decodeOnArrival({ ffmpeg, caller: 'ada' }, ([luma]) => seen.push(luma!), never);
    arrive(units[1]!, track);
    await settle();
    expect(seen).toEqual([7]);
    const decoded: number[] = [];
    const runAll: FfmpegRunner['runAll'] = async (...call) => {
      const pictures = await decodeAll(...call);
      decoded.push(pictures.length);
      return pictures;
    };
    const { scan: found } = await scan(units, since('a', 5, 10), { runAll });
    expect(decoded).toEqual([2]);
    expect(found.frames.map(({ thumbnail: [luma] }) => luma)).toEqual([0, 7, 0]);
    await scan(units, since('a', 5, 10), { runAll, caller: 'bob' });
    expect(decoded).toEqual([2, 3]);
  });

  test('the newest of those that arrive during a decode is next, and nothing follows the end', async () => {
    const first = Promise.withResolvers<void>();
    const decoded: Promise<unknown>[] = [];
    const runAll: FfmpegRunner['runAll'] = async (...call) => {
      const work = first.promise.then(() => decodeOne(...call));
      decoded.push(work);
      return work;
    };
    const end = new AbortController();
    const seen: number[] = [];
    const arrive = decodeOnArrival(
      { ffmpeg: { run, runAll }, caller: 'ada' },
      ([luma]) => seen.push(luma!),
      end.signal,
    );
    for (const seconds of [1, 2, 3]) arrive(unit(seconds), track);
    arrive(unit(3, 500), track);
    first.resolve();
    await settle();
    expect(decoded).toHaveLength(2);
    expect(seen).toEqual([7, 7]);
    end.abort();
    arrive(unit(9), track);
    await settle();
    expect(decoded).toHaveLength(2);
  });
});

const settle = () => new Promise((resolve) => setImmediate(resolve));
