import { expect, test } from 'vitest';
import { newCaller, previousValidUntil, rotateSecret, validVersions } from '../../../core/records/caller.ts';
import type { SecretVersions } from '../../../core/records/caller.ts';
import { after, start } from '../../contract/records.ts';

const first = newCaller('harbour', null, start).webhook_secret;
const versions = (secret: SecretVersions, at: Date) =>
  validVersions({ ...newCaller('harbour', null, start), webhook_secret: secret }, at);

test('a caller that nobody has heard of signs with its first version', () => {
  expect(validVersions(undefined, start)).toEqual([1]);
  expect(versions(first, start)).toEqual([1]);
  expect(previousValidUntil(first, start)).toBeNull();
});

test('the new version signs first and the old one beside it, until its grace is over', () => {
  const rotated = rotateSecret(first, 60, start);
  expect(versions(rotated, start)).toEqual([2, 1]);
  expect(previousValidUntil(rotated, start)).toBe(after(60).toISOString());
  expect(versions(rotated, after(59))).toEqual([2, 1]);
  expect(versions(rotated, after(60))).toEqual([2]);
  expect(previousValidUntil(rotated, after(60))).toBeNull();
});

test('a rotation whose answer was lost and that is repeated leaves the receiver its secret', () => {
  const twice = rotateSecret(rotateSecret(first, 60, start), 60, after(1));
  expect(versions(twice, after(2))).toEqual([3, 2, 1]);
  expect(previousValidUntil(twice, after(2))).toBe(after(61).toISOString());
});

test('not more than two old versions sign, and what is over is forgotten', () => {
  let secret = first;
  for (let second = 0; second < 10; second += 1) secret = rotateSecret(secret, 60, after(second));
  expect(versions(secret, after(10))).toEqual([11, 10, 9]);
  expect(rotateSecret(secret, 60, after(600)).previous.map(({ version }) => version)).toEqual([11]);
});

test('without grace every old version ends at once', () => {
  const rotated = rotateSecret(rotateSecret(first, 60, start), 0, after(1));
  expect(versions(rotated, after(1))).toEqual([3]);
});
