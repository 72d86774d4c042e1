import { expect, test } from 'vitest';
import { ConnectionError } from '../../client/errors.ts';
import { readError } from '../../client/transport.ts';
import { asProblem } from '../../console/api/problem.ts';

const toProblem = async (response: Response) => asProblem(await readError(response));

test('a request without a response becomes a problem that says so', () => {
  expect(asProblem(new ConnectionError('Cannot reach http://host'))).toMatchObject({
    status: 0,
    message: 'Watchpost cannot be reached',
  });
});

test('an error envelope becomes a problem with its message and remediation', async () => {
  const error = { code: 'JOB_NOT_FOUND', message: 'Job not found', remediation: 'Check the job id.' };
  expect(await toProblem(Response.json({ error }, { status: 404 }))).toMatchObject({
    status: 404,
    code: 'JOB_NOT_FOUND',
    message: 'Job not found',
    remedy: 'Check the job id.',
  });
});

test('a 422 becomes a problem that names each invalid field', async () => {
  const detail = [
    { loc: ['body', 'interval_seconds'], msg: 'Input should be at least 5', type: 'greater_than_equal' },
    { loc: ['body', 'condition'], msg: 'Field required', type: 'missing' },
  ];
  expect(await toProblem(Response.json({ detail }, { status: 422 }))).toMatchObject({
    status: 422,
    message: 'A field is not as it should be',
    remedy: 'The interval. Input should be at least 5. Condition. Field required.',
    fields: [
      { path: 'interval_seconds', text: 'Input should be at least 5.' },
      { path: 'condition', text: 'Field required.' },
    ],
  });
});

test.each([
  ['INVALID_URL', 'destinations[0].url: use https.', 'destinations.0.url', 'use https.'],
  ['INVALID_URL', 'Use https.', 'stream_url', 'No. Use https.'],
  ['STREAM_FETCH_FAILED', 'Check that: the camera is on.', 'stream_url', 'No. Check that: the camera is on.'],
])('an error %s with the remedy %j is one of the field %s', async (code, remediation, path, text) => {
  const error = { code, message: 'No', remediation };
  const { fields } = await toProblem(Response.json({ error }, { status: 400 }));
  expect(fields).toEqual([{ path, text }]);
});

test('the error page of a proxy becomes a problem with its status', async () => {
  expect(await toProblem(new Response('<h1>Bad gateway</h1>', { status: 502 }))).toMatchObject({
    status: 502,
    message: 'The service returned status 502',
  });
});
