import { expect, test } from 'vitest';
import { rankMoments } from '../../../core/memory/rank-moments.ts';
import type { Moment } from '../../../core/records/moment.ts';

const moment = (id: string, fields: Partial<Moment>): Moment => ({
  moment_id: id,
  watch_id: '2f1f4d2c-0000-4000-8000-000000000001',
  caller: 'alice',
  at: '2026-03-01T12:00:00.000Z',
  verdicts: [],
  judged_by: 'scripted',
  frame_key: null,
  expires_at: '2026-03-04T12:00:00.000Z',
  ...fields,
});
const says = (triggered: boolean, explanation: string) => ({ condition_id: 'a', triggered, explanation });

test('a sentence with more and rarer words is first, then a newer one; what is not there counts little', () => {
  const moments = [
    moment('car', { scene: 'A white car' }),
    moment('newer car', { scene: 'A white car', at: '2026-03-01T12:00:01.000Z' }),
    moment('van', { scene: 'A white van' }),
    moment('denied', { scene: 'An empty yard', verdicts: [says(false, 'No white van is there')] }),
    moment('held', { verdicts: [says(true, 'A white van and a courier')] }),
    moment('synonym', { scene: 'A lorry' }),
  ];
  const ranked = rankMoments(moments, { own: ['white', 'van'], added: ['lorri', 'courier'] });
  expect(ranked.map(({ moment: { moment_id: id } }) => id)).toEqual([
    'held',
    'van',
    'synonym',
    'newer car',
    'car',
    'denied',
  ]);
});

test.each([
  [says(false, 'No white van is there'), true],
  [says(false, "A lorry is there. The van isn't visible."), true],
  [says(false, 'A white van is there, but no parcel'), false],
  [says(false, 'The van is closed'), false],
  [{ ...says(false, 'A van, perhaps, or no van'), triggered: null }, false],
  [says(true, 'No van is left'), false],
])('only a verdict of "no" that negates the words denies them: %j', (verdict, denied) => {
  const [ranked] = rankMoments([moment('one', { verdicts: [verdict] })], {
    own: ['white', 'van'],
    added: [],
  });
  expect(ranked?.denies).toBe(denied);
});
