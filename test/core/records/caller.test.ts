import { expect, test } from 'vitest';
import {
  newCaller,
  previousValidUntil,
  rotateSecret,
  validVersions,
  type SecretVersions,
} from '../../../core/records/caller.ts';
import { after, start } from '../../contract/records.ts';

const first = newCaller('harbour', null, start).webhook_secret;
const versions = (secret: SecretVersions, at: Date) =>
  validVersions({ ...newCaller('harbour', null, start), webhook_secret: secret }, at);

test('an unknown caller signs with version 1', () => {
  expect(validVersions(undefined, start)).toEqual([1]);
  expect(versions(first, start)).toEqual([1]);
  expect(previousValidUntil(first, start)).toBeNull();
});

test('the new version signs first, and the old one also until the grace period ends', () => {
  const rotated = rotateSecret(first, 60, start);
  expect(versions(rotated, start)).toEqual([2, 1]);
  expect(previousValidUntil(rotated, start)).toBe(after(60).toISOString());
  expect(versions(rotated, after(59))).toEqual([2, 1]);
  expect(versions(rotated, after(60))).toEqual([2]);
  expect(previousValidUntil(rotated, after(60))).toBeNull();
});

test('a repeated rotation after a lost response keeps the secret of the receiver valid', () => {
  const twice = rotateSecret(rotateSecret(first, 60, start), 60, after(1));
  expect(versions(twice, after(2))).toEqual([3, 2, 1]);
  expect(previousValidUntil(twice, after(2))).toBe(after(61).toISOString());
});

test('a caller signs with at most two old versions, and expired ones are dropped', () => {
  let secret = first;
  for (let second = 0; second < 10; second += 1) secret = rotateSecret(secret, 60, after(second));
  expect(versions(secret, after(10))).toEqual([11, 10, 9]);
  expect(rotateSecret(secret, 60, after(600)).previous.map(({ version }) => version)).toEqual([11]);
});

test('a rotation without grace period ends every old version immediately', () => {
  const rotated = rotateSecret(rotateSecret(first, 60, start), 0, after(1));
  expect(versions(rotated, after(1))).toEqual([3]);
});
