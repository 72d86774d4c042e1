import { expect, test } from 'vitest';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createUsageLedger } from '../../../adapters/embedded/usage-ledger.ts';
import { noUse } from '../../../core/records/caller-use.ts';
import { describeUsageLedger } from '../../contract/usage-ledger.contract.ts';

describeUsageLedger('The embedded ledger', async () => createUsageLedger(openDatabase(':memory:')));

test('a day is removed 400 days later', async () => {
  const ledger = createUsageLedger(openDatabase(':memory:'));
  const call = { ...noUse, model_calls: 1 };
  for (const day of ['2025-01-01', '2025-01-02', '2026-02-06']) await ledger.add('harbour', day, call);
  const days = await ledger.days('harbour', '2025-01-01', '2026-12-31');
  expect(days.map(({ day }) => day)).toEqual(['2025-01-02', '2026-02-06']);
});
