import { expect, test } from 'vitest';
import { findVisits } from '../../../core/memory/visits.ts';
import type { Span, SpanClass } from '../../../core/records/sight.ts';

const start = Date.parse('2026-03-01T12:00:00Z');
const at = (seconds: number) => new Date(start + seconds * 1000);
const span = (from: number, to: number, name: SpanClass): Span => ({
  from: at(from),
  to: at(to),
  class: name,
  reason: name === 'not_seen' ? 'stream' : null,
});
const moment = (seconds: number, holds: boolean | null, capture = seconds) => ({
  at: at(seconds).toISOString(),
  moment_id: `${capture}-${seconds}`,
  holds,
});

/** Returns the visits as begin and end in seconds, "?" at an open end. */
function visits(moments: ReturnType<typeof moment>[], spans: Span[]): string[] {
  const seconds = (time: Date) => (time.getTime() - start) / 1000;
  return findVisits(moments, spans, ({ holds }) => holds).map(
    ({ from, to, openBegin, openEnd }) =>
      `${openBegin ? '?' : ''}${seconds(from)}-${seconds(to)}${openEnd ? '?' : ''}`,
  );
}

test('quiet time joins moments, however long it is', () => {
  const spans = [span(0, 10, 'judged'), span(10, 3000, 'quiet'), span(3000, 3010, 'judged')];
  expect(visits([moment(5, true), moment(3005, true)], spans)).toEqual(['5-3005']);
});

test('a visit was seen until the next moment, or as long as somebody looked', () => {
  const seenTo = (moments: ReturnType<typeof moment>[], spans: Span[]) =>
    findVisits(moments, spans, ({ holds }) => holds).map((visit) => (+visit.seenTo - start) / 1000);
  const spans = [span(0, 5, 'judged'), span(5, 60, 'quiet'), span(60, 62, 'judged'), span(62, 90, 'quiet')];
  expect(seenTo([moment(5, true), moment(62, false)], spans)).toEqual([62]);
  expect(seenTo([moment(5, true), moment(61, null), moment(62, false)], spans)).toEqual([61]);
  expect(seenTo([moment(5, false), moment(62, true)], spans)).toEqual([90]);
  expect(seenTo([moment(5, true), moment(8, true)], spans.slice(2))).toEqual([8]);
  // Between two pictures, nobody knows.
  const unlooked = [span(0, 5, 'judged'), span(5, 30, 'between'), span(30, 40, 'quiet')];
  expect(seenTo([moment(5, true), moment(35, false)], unlooked)).toEqual([5]);
  // Spans are rounded, up or down.
  for (const end of [5, 5.1])
    for (const name of ['judged', 'not_seen', 'between'] as const)
      expect(seenTo([moment(5.05, true)], [span(0, end, name), span(end, 60, 'quiet')])).toEqual([60]);
});

test('a moment that denies splits a visit, and one that was not judged does not', () => {
  const all = [span(0, 100, 'judged')];
  expect(visits([moment(5, true), moment(10, null), moment(20, true)], all)).toEqual(['5-20']);
  expect(visits([moment(5, true), moment(10, false), moment(20, true)], all)).toEqual(['5-5', '20-20']);
  expect(visits([moment(5, false), moment(10, null)], all)).toEqual([]);
});

test('a visit is open-ended where nobody saw, however short that was', () => {
  const spans = [span(0, 10, 'judged'), span(10, 12, 'not_seen'), span(12, 20, 'judged')];
  expect(visits([moment(5, true), moment(15, true)], spans)).toEqual(['5-5?', '?15-15']);
  expect(visits([moment(5, true), moment(15, false), moment(18, true)], spans)).toEqual(['5-5?', '18-18']);
});

test('moments of the capture that ends a gap are one visit, open at its begin', () => {
  const spans = [span(0, 10, 'judged'), span(10, 80, 'not_seen'), span(80, 90, 'quiet')];
  const looked = [72, 74, 76].map((seconds) => moment(seconds, true, 80));
  expect(visits([moment(5, true), ...looked, moment(90, true)], spans)).toEqual([
    '5-5?',
    '?72-76?',
    '?90-90',
  ]);
  const left = [moment(72, true, 80), moment(74, false, 80), moment(76, true, 80)];
  expect(visits(left, spans)).toEqual(['72-72', '76-76']);
});

test('time between two pictures joins up to a minute, and so does time without a span', () => {
  const spans = [span(0, 1, 'judged'), span(1, 400, 'between'), span(400, 401, 'judged')];
  expect(visits([moment(0, true), moment(60, true), moment(400, true)], spans)).toEqual([
    '0-60?',
    '?400-400',
  ]);
  expect(visits([moment(0, true), moment(50, true), moment(200, true)], [])).toEqual(['0-50?', '?200-200']);
});
