import type { Counted, Meter, MeterReading } from '../../../core/ports/meter.ts';

/** Creates counters in memory that restart with the process (I-2.10.1). */
export function createMeter(since: Pick<MeterReading, 'startedAt' | 'jobsBefore'>): Meter {
  const providers = new Map<string, { calls: number; errors: number }>();
  const deliveries = { delivered: 0, failed: 0 };
  const mails = { delivered: 0, failed: 0 };
  const searches = { searches: 0, calls: 0, microUsd: 0 };
  let momentsDropped = 0;
  let directFrames = 0;
  let skippedFrames = 0;

  function count(counted: Counted): void {
    if (counted.kind === 'direct_frame') directFrames += 1;
    else if (counted.kind === 'watch_frame' && counted.skipped) skippedFrames += 1;
    else if (counted.kind === 'watch_frame') directFrames += 1;
    else if (counted.kind === 'delivery')
      (counted.isMail ? mails : deliveries)[counted.delivered ? 'delivered' : 'failed'] += 1;
    else if (counted.kind === 'moments_dropped') momentsDropped += counted.count;
    else if (counted.kind === 'search') {
      searches.searches += counted.isNew ? 1 : 0;
      searches.calls += counted.calls;
      searches.microUsd += counted.microUsd;
    } else if (counted.kind === 'model_call') {
      const before = providers.get(counted.provider) ?? { calls: 0, errors: 0 };
      const errors = before.errors + (counted.failed ? 1 : 0);
      providers.set(counted.provider, { calls: before.calls + 1, errors });
    }
  }

  return {
    count: async (counted) => count(counted),
    read: async () => ({
      ...since,
      providers: Object.fromEntries(providers),
      directFrames,
      skippedFrames,
      deliveries: { ...deliveries },
      mails: { ...mails },
      searches: { ...searches },
      momentsDropped,
    }),
  };
}
