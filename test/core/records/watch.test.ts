import { expect, test } from 'vitest';
import { watchSchema, watchSecretsSchema } from '../../../core/records/watch.ts';
import { watchPatchSchema, watchRequestSchema } from '../../../core/requests/watches.ts';
import { gatePatch, gateRequest, newWatch, secrets } from '../../support/watches/watch-records.ts';

test('a record of a watch with every field is read as it was written', () => {
  expect(watchSchema.parse(JSON.parse(JSON.stringify(newWatch())))).toEqual(newWatch());
  expect(watchSecretsSchema.parse(secrets)).toEqual(secrets);
});

test('the record of a watch has no address of a destination', () => {
  expect(JSON.stringify(newWatch())).not.toContain('secret');
});

test('a request after its defaults is the same request again', () => {
  expect(watchRequestSchema.parse(gateRequest)).toEqual(gateRequest);
  expect(watchPatchSchema.parse(gatePatch)).toEqual(gatePatch);
});
