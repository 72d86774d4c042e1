import { expect, test } from 'vitest';
import { modelTroubleSchema } from '../../../core/records/sight.ts';
import { afterModelCall } from '../../../core/sight/trouble.ts';
import { start } from '../../contract/records.ts';

test('the texts of a failure of the model are stored up to their maximum, however long they are', () => {
  const text = (length: number) => 'Wait. '.repeat(1000).slice(0, length);
  const failure = { code: 'VLM_ERROR', message: text(5000), remediation: text(6000) };
  const trouble = afterModelCall(
    null,
    failure,
    { failures: 5, seconds: 300 },
    { lateSeconds: 0, now: start },
  );
  expect(trouble?.failure).toEqual({ code: 'VLM_ERROR', message: text(400), remediation: text(400) });
  expect(modelTroubleSchema.safeParse(trouble).success).toBe(true);
  expect(modelTroubleSchema.safeParse({ ...trouble, failure }).success).toBe(false);
});
