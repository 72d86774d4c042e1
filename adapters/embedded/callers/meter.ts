import {
  addIncrements,
  toIncrements,
  toReading,
  type MeterCounts,
} from '../../../core/observability/meter-counts.ts';
import type { Meter, MeterReading } from '../../../core/ports/usage.ts';

/** Creates counters in memory that restart with the process (I-2.10.1). */
export function createMeter(since: Pick<MeterReading, 'startedAt' | 'jobsBefore'>): Meter {
  const counts: MeterCounts = new Map();
  return {
    count: async (counted) => addIncrements(counts, toIncrements(counted)),
    read: async () => ({ ...since, ...toReading(counts) }),
  };
}
