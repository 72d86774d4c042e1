import { describe, expect, test } from 'vitest';
import { jobLog, type Log, type RecentLog } from '../../core/ports/observability.ts';

/** Contract of `RecentLog`. `make` returns an empty one with the log that it shows. */
export function describeRecentLog(name: string, make: () => Promise<Log & RecentLog>): void {
  describe(`${name} as a recent log`, () => {
    test('entries are returned oldest first, with time, level and message', async () => {
      const log = await make();

      log.info('Job accepted');
      log.warning('Capture failed');
      log.error('Request failed');

      const entries = await log.entries();
      expect(entries.map(({ level, message }) => [level, message])).toEqual([
        ['INFO', 'Job accepted'],
        ['WARNING', 'Capture failed'],
        ['ERROR', 'Request failed'],
      ]);
      expect(entries[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    test('the newest 500 entries are kept', async () => {
      const log = await make();
      for (let index = 1; index <= 503; index += 1) log.info(`entry ${index}`);

      const entries = await log.entries();

      expect(entries).toHaveLength(500);
      expect([entries[0]?.message, entries.at(-1)?.message]).toEqual(['entry 4', 'entry 503']);
    });

    test('a message about a job begins with the first eight characters of its id', async () => {
      const log = await make();

      jobLog(log, '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001').info('Job started');

      expect((await log.entries())[0]?.message).toBe('[JOB:0c4c1c5e] Job started');
    });

    test('fields follow the message, without empty ones', async () => {
      const log = await make();

      log.info('Capture failed', { tick: 3, error: 'timed out', again: true, cause: null, note: '' });

      expect((await log.entries())[0]?.message).toBe('Capture failed tick=3 error="timed out" again=true');
    });
  });
}
