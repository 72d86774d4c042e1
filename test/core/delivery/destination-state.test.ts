import { expect, test } from 'vitest';
import { initialDestinationState, isEndElsewhere } from '../../../core/delivery/destination-state.ts';

const destination = { run: 'watch', run_id: crypto.randomUUID(), destination_id: 'team' } as const;

test('an end is that of the newest opening of its subject before it', () => {
  const state = {
    ...initialDestinationState({ ...destination, fingerprint: 'f' }),
    notified: [
      { subject: 'stream', sequence: 50, delivered: false },
      { subject: 'stream', sequence: 5, delivered: false, elsewhere: true as const },
    ],
  };
  const isElsewhere = (sequence: number, subject = 'stream') => isEndElsewhere(state, { subject, sequence });
  expect([isElsewhere(4), isElsewhere(20), isElsewhere(60), isElsewhere(20, 'other')]).toEqual([
    false,
    true,
    false,
    false,
  ]);
});
