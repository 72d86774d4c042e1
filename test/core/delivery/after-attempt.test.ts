import { describe, expect, test } from 'vitest';
import { decideAfterAttempt } from '../../../core/delivery/after-attempt.ts';
import type { WebhookResult } from '../../../core/ports/delivery.ts';
import { after, start } from '../../support/watching.ts';

const answered = (status: number | null, rest: Partial<WebhookResult> = {}): WebhookResult => ({
  status,
  latencyMs: 5,
  error: null,
  retryAfter: null,
  ...rest,
});
const evenly = 0.5;

describe('after an attempt', () => {
  test('2xx delivers', () => {
    for (const status of [200, 202, 204, 299])
      expect(decideAfterAttempt(1, answered(status), start, evenly).kind).toBe('delivered');
  });

  test('the three retries come at 5, 30 and 120 seconds, and the fourth failure is final', () => {
    const kinds = [1, 2, 3].map((made) => decideAfterAttempt(made, answered(500), start, evenly));
    expect(kinds).toEqual([5, 25, 90].map((seconds) => ({ kind: 'retry', at: after(seconds) })));
    expect(decideAfterAttempt(4, answered(500), start, evenly)).toEqual({
      kind: 'failed',
      error: 'Failed to deliver webhook: the receiver answered 500',
      gone: false,
    });
  });

  test('waits are drawn up to 20 % shorter or longer', () => {
    expect(decideAfterAttempt(1, answered(500), start, 0)).toEqual({ kind: 'retry', at: after(4) });
    expect(decideAfterAttempt(1, answered(500), start, 1)).toEqual({ kind: 'retry', at: after(6) });
  });

  test('a redirect is a failure', () => {
    expect(decideAfterAttempt(1, answered(302), start, evenly).kind).toBe('retry');
    expect(decideAfterAttempt(4, answered(302), start, evenly)).toMatchObject({
      error: expect.stringContaining('not followed'),
    });
  });

  test('no answer is a failure that says why', () => {
    expect(decideAfterAttempt(4, answered(null, { error: 'timed out' }), start, evenly)).toMatchObject({
      error: 'Failed to deliver webhook: timed out',
    });
  });

  test('410 ends the deliveries of the job', () => {
    expect(decideAfterAttempt(1, answered(410), start, evenly)).toMatchObject({ kind: 'failed', gone: true });
  });

  test('Retry-After is honoured in both its forms, up to 300 seconds', () => {
    const wait = (retryAfter: string) => decideAfterAttempt(1, answered(503, { retryAfter }), start, evenly);
    expect(wait('60')).toEqual({ kind: 'retry', at: after(60) });
    expect(wait('86400')).toEqual({ kind: 'retry', at: after(300) });
    expect(wait(after(90).toUTCString())).toEqual({ kind: 'retry', at: after(90) });
    expect(wait('soon')).toEqual({ kind: 'retry', at: after(5) });
    expect(wait('1')).toEqual({ kind: 'retry', at: after(5) });
  });
});
