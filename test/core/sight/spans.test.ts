import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spanClasses, type SeenHour, type Span, type SpanClass } from '../../../core/records/sight.ts';
import { classifySpans, extendHour, readHour, sumSpans, type Look } from '../../../core/sight/spans.ts';
import { addSeconds } from '../../../core/time.ts';

const hour = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(hour.getTime() + seconds * 1000);
const watched = (from: number, to: number) => [{ from: after(from), to: after(to), gap: null }];
const short = ({ from, to, class: name, reason }: Span) => [
  (from.getTime() - hour.getTime()) / 1000,
  (to.getTime() - hour.getTime()) / 1000,
  reason ?? name,
];

describe('the classes of the active time', () => {
  test.each<[string, Look | null, unknown[]]>([
    ['a scan without motion', { class: 'quiet', at: after(300), scannedSeconds: 300 }, [[0, 300, 'quiet']]],
    [
      'a scan that is shorter than the interval',
      { class: 'judged', at: after(300), scannedSeconds: 70 },
      [
        [0, 230, 'between'],
        [230, 300, 'judged'],
      ],
    ],
    [
      'a picture without a scan',
      { class: 'judged', at: after(300), scannedSeconds: 0 },
      [
        [0, 299, 'between'],
        [299, 300, 'judged'],
      ],
    ],
    ['a tick without a capture', null, [[0, 300, 'between']]],
  ])('the time before %s is divided', (_, look, expected) => {
    expect(classifySpans(watched(0, 300), look).map(short)).toEqual(expected);
  });

  test('a gap is not seen, for its reason', () => {
    const gap = [{ from: hour, to: after(10), gap: 'budget' as const }];
    const look: Look = { class: 'quiet', at: after(10), scannedSeconds: 10 };
    expect(classifySpans(gap, look).map(short)).toEqual([[0, 10, 'budget']]);
  });

  test('each second has one class, whatever was scanned', () => {
    const look = fc.record({
      class: fc.constantFrom('judged' as const, 'quiet' as const, 'between' as const),
      at: fc.integer({ min: -400, max: 400 }).map(after),
      scannedSeconds: fc.integer({ min: 0, max: 80 }),
    });
    fc.assert(
      fc.property(fc.nat({ max: 300 }), fc.nat({ max: 300 }), look, (from, length, given) => {
        const spans = classifySpans(watched(from, from + length), given);
        const ends = [after(from), ...spans.map(({ to }) => to)];
        for (const [index, span] of spans.entries()) expect(span.from).toEqual(ends[index]);
        expect(ends.at(-1)).toEqual(after(from + length));
      }),
    );
  });
});

describe('the spans of an hour', () => {
  const add = (before: SeenHour | undefined, spans: Span[]) =>
    extendHour(hour, before, { spans, unjudged: {} });

  test('neighbors of one class merge', () => {
    const first = add(undefined, [{ from: hour, to: after(10), class: 'quiet', reason: null }]);
    const second = add(first, [
      { from: after(10), to: after(20), class: 'quiet', reason: null },
      { from: after(20), to: after(25), class: 'not_seen', reason: 'stream' },
    ]);
    expect(readHour(hour, second).map(short)).toEqual([
      [0, 20, 'quiet'],
      [20, 25, 'stream'],
    ]);
  });

  test('sixty spans are kept at most, whose sum stays, and none claims more than before', () => {
    const span = fc.record({
      class: fc.constantFrom(...spanClasses),
      tenths: fc.integer({ min: 1, max: 300 }),
    });
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 200 }), (all) => {
        let seen: SeenHour | undefined;
        const sum = { judged: 0, quiet: 0, between: 0, not_seen: 0 };
        let at = 0;
        for (const { class: name, tenths } of all) {
          const end = Math.min(36_000, at + tenths);
          const reason = name === 'not_seen' ? 'stale' : null;
          seen = add(seen, [{ from: after(at / 10), to: after(end / 10), class: name, reason }]);
          sum[name] += (end - at) / 10;
          at = end;
        }
        const kept = sumSpans(readHour(hour, seen));
        expect(seen?.spans.length).toBeLessThanOrEqual(60 * 7);
        expect(kept.judged + kept.quiet).toBeLessThanOrEqual(sum.judged + sum.quiet + 0.001);
        expect(kept.quiet).toBeLessThanOrEqual(sum.quiet + 0.001);
        expect(kept.not_seen).toBeGreaterThanOrEqual(sum.not_seen - 0.001);
        expect(kept.judged + kept.quiet + kept.between + kept.not_seen).toBeCloseTo(at / 10, 3);
      }),
    );
  });

  /** Adds spans to an hour that begins with others: each of `seconds`, with a class of `classes` in turn. */
  const addBusy = (first: Span[], count: number, seconds: number, classes: readonly SpanClass[]): Span[] => {
    const begin = first.at(-1)?.to ?? hour;
    let seen = add(undefined, first);
    for (let index = 0; index < count; index += 1) {
      const from = addSeconds(begin, index * seconds);
      const name = classes[index % classes.length] ?? 'between';
      seen = add(seen, [{ from, to: addSeconds(from, seconds), class: name, reason: null }]);
    }
    return readHour(hour, seen);
  };

  test('an hour in which much moves was seen whole, and keeps its long quiet time', () => {
    const quiet: Span = { from: hour, to: after(1200), class: 'quiet', reason: null };
    const spans = addBusy([quiet], 400, 6, ['judged', 'quiet', 'quiet']);
    expect(sumSpans(spans).between).toBe(0);
    expect(spans.map(short)[0]).toEqual([0, 1200, 'quiet']);
  });

  test('an hour in which much moves keeps the reasons of its long gaps', () => {
    const gaps: Span[] = [
      { from: hour, to: after(600), class: 'not_seen', reason: 'stream' },
      { from: after(600), to: after(1260), class: 'not_seen', reason: 'budget' },
    ];
    expect(addBusy(gaps, 140, 9, ['between', 'judged']).slice(0, 2)).toEqual(gaps);
  });

  test('the time in which a condition was not judged is summed', () => {
    const spans: Span[] = [{ from: hour, to: after(10), class: 'quiet', reason: null }];
    const first = extendHour(hour, undefined, { spans, unjudged: { person: 10 } });
    expect(extendHour(hour, first, { spans: [], unjudged: { person: 2.5, car: 1 } }).unjudged).toEqual({
      person: 12.5,
      car: 1,
    });
  });
});
