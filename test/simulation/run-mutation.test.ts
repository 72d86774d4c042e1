import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';
import { runMutation } from './run-mutation.ts';

/** The quickest two of all; `npm run simulate -- mutations` runs the rest. */
test.each(mutations.filter(({ rule }) => rule === 'M of N' || rule === 'severities are filtered'))(
  'a simulation of $simulation notices that the rule "$rule" is broken',
  { timeout: 120_000 },
  (mutation) => {
    expect(runMutation(mutation)).toBe('killed');
  },
);
