import { expect, test } from 'vitest';
import { webhookKey } from '../../contract/records.ts';
import { afterAttempt, applyResend } from '../../../core/delivery/after-attempt.ts';
import { outcomeFor } from '../../../adapters/destinations/http-sender.ts';
import { webhookStatuses } from '../../../adapters/destinations/webhook/webhook.ts';
import { initialDelivery } from '../../../core/records/delivery.ts';
import { rules } from '../../../core/rules.ts';
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

/** Makes `count` attempts that all have the same result, and returns the delivery after the last one. */
function attempt(count: number, result: WebhookResult, random = evenly, delivery = pending) {
  const given = { ...result, outcome: outcomeFor(result.status, webhookStatuses), startedAt: start };
  return Array.from({ length: count }).reduce<typeof pending>(
    (before) => afterAttempt(before, given, start, random),
    delivery,
  );
}

const pending = initialDelivery(webhookKey('6f0c1c1e-8f0e-4f0a-9a60-5b8f2f3e7a10', 1), 'watch_triggered');
const due = (seconds: number) => ({ state: 'pending', next_attempt_at: after(seconds).toISOString() });

test('a response with a 2xx status completes the delivery', () => {
  for (const status of [200, 202, 204, 299])
    expect(attempt(1, answered(status))).toMatchObject({ state: 'delivered', next_attempt_at: null });
});

test('an attempt is recorded with its start, status, latency, error and resend', () => {
  const result = answered(null, { error: 'timed out', latencyMs: 30_000 });
  const { attempts } = afterAttempt(
    { ...pending, resend: 2 },
    { ...result, outcome: 'retry', startedAt: start },
    after(30),
    evenly,
  );
  expect(attempts).toEqual([
    { at: start.toISOString(), status: null, latency_ms: 30_000, error: 'timed out', resend: 2 },
  ]);
});

test('the record of a delivery keeps a bounded number of attempts', () => {
  expect(attempt(rules.maxAttemptsKept + 5, answered(500)).attempts).toHaveLength(rules.maxAttemptsKept);
});

test('the three retries come at 5, 30 and 120 seconds, and the fourth failure is final', () => {
  const delays = [1, 2, 3].map((count) => attempt(count, answered(500)));
  expect(delays).toMatchObject([5, 25, 90].map(due));
  expect(attempt(4, answered(500))).toMatchObject({
    state: 'failed',
    next_attempt_at: null,
    error: 'Failed to deliver webhook: the receiver answered 500',
  });
});

test('a resend starts a new series of attempts, once', () => {
  const failed = attempt(4, answered(500));
  const resent = applyResend(failed, 1);
  expect(resent).toMatchObject({ state: 'pending', error: null, resend: 1, attempts: failed.attempts });
  const attempted = attempt(1, answered(500), evenly, resent);
  expect(attempted).toMatchObject(due(5));
  expect(applyResend(attempted, 1)).toBe(attempted);
});

test('waits are drawn up to 20 % shorter or longer', () => {
  expect(attempt(1, answered(500), 0)).toMatchObject(due(4));
  expect(attempt(1, answered(500), 1)).toMatchObject(due(6));
});

test('a redirect is a failure', () => {
  expect(attempt(1, answered(302))).toMatchObject({ state: 'pending' });
  expect(attempt(4, answered(302)).error).toContain('not followed');
});

test('the error of a delivery without a response names the reason', () => {
  expect(attempt(4, answered(null, { error: 'timed out' })).error).toBe(
    'Failed to deliver webhook: timed out',
  );
});

test('410 ends the deliveries of the job', () => {
  expect(attempt(1, answered(410))).toMatchObject({
    state: 'failed',
    error: 'Failed to deliver webhook: the receiver answered 410 Gone',
  });
});

test('Retry-After is honored in both its forms, up to 300 seconds', () => {
  const wait = (retryAfter: string) => attempt(1, answered(503, { retryAfter }));
  expect(wait('60')).toMatchObject(due(60));
  expect(wait('86400')).toMatchObject(due(300));
  expect(wait('9'.repeat(400))).toMatchObject(due(300));
  expect(wait(after(90).toUTCString())).toMatchObject(due(90));
  expect(wait('soon')).toMatchObject(due(5));
  expect(wait('1')).toMatchObject(due(5));
});
