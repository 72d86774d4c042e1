import { expect, test } from 'vitest';
import { describeTrouble } from '../../../cli/commands/watch.ts';

const since = '2026-03-01T12:00:00.000Z';

test('watch list names late checks, a failing model and each failing destination', () => {
  const fine = { late_since: null, view_changed_since: null, destinations_failing: [], model_failure: null };
  expect(describeTrouble(fine)).toEqual([]);
  const failure = { code: 'VLM_ERROR', message: 'Vision model analysis failed', remediation: 'Try again.' };
  const failing = [{ destination_id: 'team', since, error: 'the receiver answered 410 Gone' }];
  expect(
    describeTrouble({
      late_since: since,
      view_changed_since: since,
      destinations_failing: failing,
      model_failure: failure,
    }),
  ).toEqual([
    `late since ${since}`,
    `another view than that of the regions since ${since}`,
    'model: Vision model analysis failed',
    `team fails since ${since}: the receiver answered 410 Gone`,
  ]);
});
