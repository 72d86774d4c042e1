import { expect, test } from 'vitest';
import {
  chooseSegments,
  type SegmentSelection,
} from '../../../../../adapters/media/hls/capture-live-edge.ts';
import type { Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { newSegment } from '../../../../support/hls/new-segment.ts';

function segment(sequence: number, more: Partial<Segment> = {}): Segment {
  return newSegment({ url: `https://cdn.example/${sequence}.ts`, sequence: BigInt(sequence), ...more });
}

function chosen(segments: Segment[], wanted: Partial<SegmentSelection> = {}): number[] {
  const playlist = {
    kind: 'media' as const,
    url: '',
    targetSeconds: 2,
    endList: false,
    playlistType: null,
    segments,
  };
  return chooseSegments(playlist, { mode: 'clip', clipSeconds: 3, olderSegments: 0, ...wanted }).map(
    ({ sequence }) => Number(sequence),
  );
}

const five = [1, 2, 3, 4, 5].map((sequence) => segment(sequence));

test('chooseSegments selects the newest segment for a frame', () => {
  expect(chosen(five, { mode: 'frames' })).toEqual([5]);
});

test('chooseSegments selects the newest segments that cover a clip, oldest first', () => {
  expect(chosen(five)).toEqual([4, 5]);
  expect(chosen(five, { mode: 'hybrid', clipSeconds: 5 })).toEqual([3, 4, 5]);
  expect(chosen(five, { clipSeconds: 2 })).toEqual([5]);
  expect(chosen(five, { clipSeconds: 60 })).toEqual([1, 2, 3, 4, 5]);
});

test('chooseSegments adds older segments for their key frame on request', () => {
  expect(chosen(five, { mode: 'frames', olderSegments: 2 })).toEqual([3, 4, 5]);
  expect(chosen(five, { olderSegments: 1 })).toEqual([3, 4, 5]);
  expect(chosen(five, { mode: 'frames', olderSegments: 9 })).toEqual([1, 2, 3, 4, 5]);
});

test('chooseSegments stops at a discontinuity', () => {
  expect(chosen([...five, segment(6, { discontinuity: true })])).toEqual([6]);
  expect(chosen([...five, segment(6, { discontinuity: true }), segment(7)], { clipSeconds: 9 })).toEqual([
    6, 7,
  ]);
});

test('chooseSegments stops at another media initialization section', () => {
  const initialization = { url: 'https://cdn.example/2.mp4', byteRange: null };
  expect(chosen([...five, segment(6, { initialization })])).toEqual([6]);
});

test('chooseSegments skips gaps at the end and stops at earlier gaps', () => {
  expect(chosen([...five, segment(6, { gap: true })])).toEqual([4, 5]);
  expect(chosen([segment(1), segment(2, { gap: true }), segment(3)])).toEqual([3]);
  expect(chosen([segment(1, { gap: true })])).toEqual([]);
});

test('chooseSegments returns nothing for an empty playlist', () => {
  expect(chosen([])).toEqual([]);
});

test('chooseSegments covers a clip if segments have no durations', () => {
  expect(chosen(five.map((one) => ({ ...one, durationSeconds: 0 })))).toEqual([1, 2, 3, 4, 5]);
});
