import { expect, test } from 'vitest';
import { z } from 'zod';
import { createAlertId } from '../../adapters/machine.ts';

const watchId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

test('the id of an alert is a UUIDv5 of watch, condition and opening', () => {
  // The value of uuid.uuid5 in Python.
  expect(createAlertId(watchId, 'person', 1)).toBe('a445a6a3-8abd-58a4-914a-bd280322e4f6');
  expect(z.uuid({ version: 'v5' }).safeParse(createAlertId(watchId, 'person', 1)).success).toBe(true);
});

test('each opening of each condition has an id of its own', () => {
  const ids = ['person', 'car'].flatMap((id) =>
    [1, 2, 3].map((opening) => createAlertId(watchId, id, opening)),
  );
  expect(new Set(ids).size).toBe(6);
});
