import { describe, expect, test } from 'vitest';
import { noUse, newCaller } from '../../core/records/caller.ts';
import type { CallerStore } from '../../core/ports/callers.ts';
import type { UsageLedger } from '../../core/ports/usage.ts';
import { start } from './records.ts';

const call = { ...noUse, model_calls: 1, input_tokens: 1_250, output_tokens: 50, micro_usd: 87 };

type Stores = { usage: UsageLedger; callers: CallerStore };

/** Contract of `UsageLedger`. `makeStores` returns empty ones. */
export function describeUsageLedger(name: string, makeStores: () => Promise<Stores>): void {
  const makeLedger = async () => {
    const { usage, callers } = await makeStores();
    for (const caller of ['harbour', 'canal']) await callers.add(newCaller(caller, null, start));
    return usage;
  };
  describe(`${name} as a usage ledger`, () => {
    test('a caller that is not stored has no use, also after several calls', async () => {
      const { usage, callers } = await makeStores();
      await usage.add('harbour', '2026-03-01', call);
      await usage.add('harbour', '2026-03-01', call);
      expect(await usage.days('harbour', '2026-03-01', '2026-03-01')).toEqual([]);
      await callers.add(newCaller('harbour', null, start));
      await usage.add('harbour', '2026-03-01', call);
      expect(await usage.days('harbour', '2026-03-01', '2026-03-01')).toMatchObject([{ use: call }]);
    });

    test('the uses of a day are added up, for each caller and day of their own', async () => {
      const ledger = await makeLedger();
      await Promise.all([
        ledger.add('harbour', '2026-03-01', call),
        ledger.add('harbour', '2026-03-01', { ...noUse, model_calls: 1, model_errors: 1 }),
        ledger.add('harbour', '2026-03-02', { ...call, unpriced_calls: 1 }),
        ledger.add('canal', '2026-03-01', { ...call, input_tokens: 7 }),
      ]);

      expect(await ledger.days('harbour', '2026-03-01', '2026-03-31')).toEqual([
        { day: '2026-03-01', use: { ...call, model_calls: 2, model_errors: 1 } },
        { day: '2026-03-02', use: { ...call, unpriced_calls: 1 } },
      ]);
      expect(await ledger.days('canal', '2026-03-01', '2026-03-01')).toMatchObject([
        { use: { input_tokens: 7 } },
      ]);
    });

    test('a period includes its first and its last day, and a caller without use has no days', async () => {
      const ledger = await makeLedger();
      for (const day of ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'])
        await ledger.add('harbour', day, call);

      const days = await ledger.days('harbour', '2026-03-01', '2026-03-02');
      expect(days.map(({ day }) => day)).toEqual(['2026-03-01', '2026-03-02']);
      expect(await ledger.days('nobody', '2026-03-01', '2026-03-02')).toEqual([]);
    });
  });
}
