import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { computeStreamPhase } from '../../../core/stream/stream-phase.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const phase = (url: string, stepMs = 1) => computeStreamPhase(url, sha256, stepMs);

test('the streams of forty cameras spread over an interval', () => {
  const tenths = new Map<number, number>();
  for (let camera = 0; camera < 40; camera += 1) {
    const tenth = Math.floor((phase(`rtsp://camera-${camera}.example/1`) % 10_000) / 1000);
    tenths.set(tenth, (tenths.get(tenth) ?? 0) + 1);
  }
  expect(tenths.size).toBeGreaterThanOrEqual(8);
  expect(Math.max(...tenths.values())).toBeLessThanOrEqual(10);
});

test('a phase is the same with any credentials, so that it discloses none', () => {
  const open = phase('rtsp://camera.example/1?channel=2');
  expect(phase('rtsp://admin:1234@camera.example/1?channel=2')).toBe(open);
  expect(phase('rtsp://admin:0000@camera.example/1?channel=2')).toBe(open);
  expect(phase('rtsp://camera.example/1?channel=3')).not.toBe(open);
});

test('a phase is a multiple of the step of wake-ups, also of text that is no URL', () => {
  for (const url of ['https://example.com/live.m3u8', 'not a URL', '']) {
    expect(phase(url, 1000) % 1000).toBe(0);
    expect(phase(url)).toBeLessThan(3_600_000);
  }
});
