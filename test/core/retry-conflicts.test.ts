import { expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import { committed, conflict, retryConflicts } from '../../core/retry-conflicts.ts';
import { rules } from '../../core/rules.ts';

test('a conflict is retried until the commit succeeds', async () => {
  let attempts = 0;
  const value = await retryConflicts('too often', async () => {
    attempts += 1;
    return attempts < rules.maxCommitAttempts ? conflict : committed(attempts);
  });
  expect(value).toBe(rules.maxCommitAttempts);
});

test('too many conflicts are a transient error', async () => {
  let attempts = 0;
  const changed = retryConflicts('The job changed too often', async () => {
    attempts += 1;
    return conflict;
  });
  await expect(changed).rejects.toThrow(new TransientError('The job changed too often'));
  expect(attempts).toBe(rules.maxCommitAttempts);
});

test('an error of an attempt is not retried', async () => {
  let attempts = 0;
  const failed = retryConflicts('too often', async () => {
    attempts += 1;
    throw new Error('a defect');
  });
  await expect(failed).rejects.toThrow('a defect');
  expect(attempts).toBe(1);
});
