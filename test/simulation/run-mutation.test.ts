import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';
import { runMutation } from './run-mutation.ts';

/** One of each kind; `npm run simulate -- mutations` runs the rest. */
test.each(mutations.filter(({ rule }) => rule === 'M of N' || rule === 'adjacent spans'))(
  'the simulation or the named test notices that the rule "$rule" is broken',
  async (mutation) => {
    expect(await runMutation(mutation)).toBe('killed');
  },
);
