import { expect, test } from 'vitest';
import {
  eventStreamPaths,
  functionUrlPaths,
  maxHttpApiSeconds,
  maxOriginSeconds,
} from '../../../../adapters/aws/http/origins.ts';
import { isStream } from '../../../../adapters/http/endpoint.ts';
import { endpoints } from '../../../../adapters/http/endpoints/endpoints.ts';

const [getJob] = endpoints.filter(({ id }) => id === 'get_job');
const [jobEvents] = endpoints.filter(({ id }) => id === 'job_events');

test('an endpoint goes to the function URL if it streams or its time budget is above that of the HTTP API', () => {
  const pathsWith = (timeBudgetSeconds: number) => functionUrlPaths([{ ...getJob!, timeBudgetSeconds }]);

  expect(pathsWith(maxHttpApiSeconds)).toEqual([]);
  expect(pathsWith(maxHttpApiSeconds + 1)).toEqual(['/api/jobs/*']);
  expect(functionUrlPaths([{ ...jobEvents!, timeBudgetSeconds: 1 }])).toEqual(['/api/jobs/*/events']);
});

test('readers of events have paths of their own, and a creation that streams is not among them', () => {
  expect(eventStreamPaths(endpoints)).toEqual([
    '/api/jobs/*/events',
    '/api/watches/events',
    '/api/watches/*/events',
  ]);
  expect(functionUrlPaths(endpoints)).toEqual(
    expect.arrayContaining(['/api/live-monitor', ...eventStreamPaths(endpoints)]),
  );
});

test('two endpoints of one path need one path pattern', () => {
  expect(functionUrlPaths([jobEvents!, jobEvents!])).toHaveLength(1);
});

test('no path pattern catches an endpoint that belongs to the HTTP API', () => {
  const patterns = functionUrlPaths(endpoints).map(
    (pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`),
  );
  for (const endpoint of endpoints) {
    const caught = patterns.some((pattern) => pattern.test(`/api${endpoint.path}`));
    const sends = isStream(endpoint.response) || endpoint.response.kind === 'mp4';
    const slow = sends || endpoint.timeBudgetSeconds > maxHttpApiSeconds;
    expect(caught, endpoint.id).toBe(slow);
  }
});

test('every time budget is below the time that CloudFront waits for an origin', () => {
  for (const { id, timeBudgetSeconds } of endpoints)
    expect(timeBudgetSeconds, id).toBeLessThan(maxOriginSeconds);
});
