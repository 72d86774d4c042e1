import { expect, test } from 'vitest';
import {
  recordedAt,
  recordedCamera,
  arrangeTimeline,
  fileAt,
  nextStart,
} from '../../../adapters/recordings/timeline.ts';

test.each([
  ['/nvr/recordings/2026-11-20/14/front_door/35.12.mp4', '2026-11-20T14:35:12.000Z'],
  ['/videos/2026-11-20_14-35-12.mp4', '2026-11-20T14:35:12.000Z'],
  ['/videos/cam1_20261120T143512.ts', '2026-11-20T14:35:12.000Z'],
  ['/videos/20261120143512.mkv', '2026-11-20T14:35:12.000Z'],
  ['/videos/Yard 2026-11-20 14.35.12.mp4', '2026-11-20T14:35:12.000Z'],
  ['/2026-11-20/yard.mp4', undefined],
  ['/videos/99999999999999.mp4', undefined],
  ['/videos/segment12.ts', undefined],
])('the path %s has the time %s', (path, time) => {
  expect(recordedAt(path)?.toISOString()).toBe(time);
});

test("a file in Frigate's folders names its camera, and another file none", () => {
  expect(recordedCamera('/nvr/2026-11-20/14/front_door/35.12.mp4')).toBe('front_door');
  expect(recordedCamera('/nvr/35.12.mp4')).toBeUndefined();
});

function recording(path: string, durationSeconds = 60) {
  return { path, durationSeconds, keyFrames: [0] };
}

test('recordings without times follow each other in the order given', () => {
  const timeline = arrangeTimeline([recording('/b.mp4', 10), recording('/a.mp4', 20)]);
  expect(timeline.files.map(({ path, startSeconds }) => [path, startSeconds])).toEqual([
    ['/b.mp4', 0],
    ['/a.mp4', 10],
  ]);
  expect(timeline.durationSeconds).toBe(30);
});

test('recordings with times are placed by them, and differences of up to two seconds are no gap', () => {
  const timeline = arrangeTimeline([
    recording('/2026-11-20_14-02-30.mp4'),
    recording('/2026-11-20_14-00-00.mp4'),
    recording('/2026-11-20_14-01-01.mp4', 59),
  ]);
  expect(timeline.beginsAt.toISOString()).toBe('2026-11-20T14:00:00.000Z');
  expect(timeline.files.map(({ startSeconds }) => startSeconds)).toEqual([0, 60, 150]);
});

test('a recording that overlaps the one before is moved behind it', () => {
  const timeline = arrangeTimeline([
    recording('/2026-11-20_14-00-00.mp4'),
    recording('/2026-11-20_14-00-30.mp4'),
  ]);
  expect(timeline.files.map(({ startSeconds }) => startSeconds)).toEqual([0, 60]);
});

test('a gap has no file, and the next start is the one after it', () => {
  const timeline = arrangeTimeline([
    recording('/2026-11-20_14-00-00.mp4'),
    recording('/2026-11-20_14-02-00.mp4'),
  ]);
  expect(fileAt(timeline, 59.9)?.path).toBe('/2026-11-20_14-00-00.mp4');
  expect(fileAt(timeline, 60)).toBeUndefined();
  expect(nextStart(timeline, 60)).toBe(120);
  expect(fileAt(timeline, 120)?.path).toBe('/2026-11-20_14-02-00.mp4');
  expect(fileAt(timeline, 180)).toBeUndefined();
  expect(nextStart(timeline, 121)).toBeUndefined();
});
