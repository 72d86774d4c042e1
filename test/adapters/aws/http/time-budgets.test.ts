import { expect, test } from 'vitest';
import { callSeconds, endpointCalls } from '../../../../adapters/aws/http/shared-dependencies.ts';
import { endpoints } from '../../../../adapters/http/endpoints/endpoints.ts';

/** Endpoints that change stored data only, although their effect is that of endpoints that reach other machines. */
const local = ['resend_delivery', 'resend_watch_delivery', 'create_key'];

test('every endpoint that reaches other machines has its calls in the table of time budgets', () => {
  const reaching = endpoints.filter(
    ({ effect, id }) => (effect === 'probes' || effect === 'starts') && !local.includes(id),
  );
  for (const { id } of reaching) expect(Object.keys(endpointCalls)).toContain(id);
});

test('the time budget of an endpoint covers all of its calls', () => {
  for (const [id, calls] of Object.entries(endpointCalls)) {
    const endpoint = endpoints.find((each) => each.id === id);
    const seconds = calls.reduce((sum, call) => sum + callSeconds[call], 0);
    expect(endpoint?.timeBudgetSeconds, id).toBeGreaterThanOrEqual(seconds);
  }
});
