import { expect, test } from 'vitest';
import { readRunItem, toRunItem } from '../../../adapters/aws/dynamodb/watch-item.ts';
import { watchProgressSchema } from '../../../core/records/watch-run.ts';
import { newCreation, withOpenConditions } from '../../contract/watch-records.ts';

const watch = withOpenConditions(newCreation());
const run = watchProgressSchema.parse(watch);
const stored = {
  watchId: watch.run_id,
  run,
  newest: { sequence: 1, minute: 0 },
  hasDestinations: true,
  retentionDays: 7,
};

test('the record of a watch with eight open conditions takes less than 4 kB of its item', () => {
  const item = toRunItem(stored, { hasBus: false });
  expect(Buffer.byteLength(JSON.stringify(run))).toBeGreaterThan(5000);
  const { record, ...columns } = item;
  expect(Buffer.from(record as Uint8Array).length + JSON.stringify(columns).length).toBeLessThan(4000);
  expect(readRunItem(item).run).toEqual(run);
});
