import { describe, expect, test } from 'vitest';
import type { Meter, MeterReading } from '../../core/ports/usage.ts';
import { noUsage } from '../../core/ports/runs.ts';
import { start } from './records.ts';

type Since = Pick<MeterReading, 'startedAt' | 'jobsBefore'>;

/** Contract of `Meter`. `makeMeter` returns one that counts from that time on and has counted nothing. */
export function describeMeter(name: string, makeMeter: (since: Since) => Promise<Meter>): void {
  const since: Since = { startedAt: start, jobsBefore: { ...noUsage, jobs_created: 3 } };

  describe(`${name} as a meter`, () => {
    test('a new meter has zero counts, its start time and its initial number', async () => {
      const meter = await makeMeter(since);

      expect(await meter.read()).toEqual({
        ...since,
        providers: {},
        directFrames: 0,
        skippedFrames: 0,
        deliveries: { delivered: 0, failed: 0 },
        mails: { delivered: 0, failed: 0 },
        searches: { searches: 0, calls: 0, microUsd: 0 },
        momentsDropped: 0,
      });
    });

    test('each kind is counted separately, and model calls by their provider', async () => {
      const meter = await makeMeter(since);

      await meter.count({ kind: 'model_call', provider: 'bedrock', failed: false });
      await meter.count({ kind: 'model_call', provider: 'bedrock', failed: true });
      await meter.count({ kind: 'model_call', provider: 'pixel', failed: false });
      await meter.count({ kind: 'direct_frame' });
      await meter.count({ kind: 'watch_frame', skipped: false });
      await meter.count({ kind: 'watch_frame', skipped: true });
      await meter.count({ kind: 'delivery', delivered: true, isMail: false });
      await meter.count({ kind: 'delivery', delivered: true, isMail: false });
      await meter.count({ kind: 'delivery', delivered: false, isMail: false });
      await meter.count({ kind: 'delivery', delivered: true, isMail: true });
      await meter.count({ kind: 'search', isNew: true, calls: 3, microUsd: 70 });
      await meter.count({ kind: 'search', isNew: false, calls: 2, microUsd: 0 });
      await meter.count({ kind: 'moments_dropped', count: 3 });

      expect(await meter.read()).toEqual({
        ...since,
        providers: { bedrock: { calls: 2, errors: 1 }, pixel: { calls: 1, errors: 0 } },
        directFrames: 2,
        skippedFrames: 1,
        deliveries: { delivered: 2, failed: 1 },
        mails: { delivered: 1, failed: 0 },
        searches: { searches: 1, calls: 5, microUsd: 70 },
        momentsDropped: 3,
      });
    });

    test('concurrent counts are all counted', async () => {
      const meter = await makeMeter(since);

      await Promise.all(Array.from({ length: 50 }, () => meter.count({ kind: 'direct_frame' })));

      expect((await meter.read()).directFrames).toBe(50);
    });

    test('a reading does not change after it was read', async () => {
      const meter = await makeMeter(since);
      const reading = await meter.read();

      await meter.count({ kind: 'delivery', delivered: true, isMail: false });

      expect(reading.deliveries.delivered).toBe(0);
    });
  });
}
