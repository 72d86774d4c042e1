import { beforeEach, describe, expect, test } from 'vitest';
import { createClientFor, type ApiClient } from '../../../support/api/api-client.ts';
import { createWorld, type World } from '../../../support/world.ts';

/** Notices of a creation: the differences between request and job. */

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld({ maxJobSeconds: 600 });
  client = await createClientFor(world);
});

const stream = { stream_url: 'https://example.com/live.m3u8' };
const monitor = { ...stream, condition: 'a ship enters the lock' };

async function create(path: string, fields: object) {
  const { body } = await client.call('POST', path, fields);
  const { body: job } = await client.call('GET', `/jobs/${body.job_id}`);
  return { message: body.message, notices: job.stats.notices };
}

describe('the message of a creation', () => {
  test('the message names the duration that the server allows', async () => {
    const limited = await create('/live-monitor', { ...monitor, monitor_duration_seconds: 7200 });
    expect(limited.message).toBe(
      'Monitor accepted. Poll GET /jobs/{job_id}. Limited to 600 s by this server.',
    );
    expect(limited.notices).toEqual(['Limited to 600 s by this server.']);
    const windows = await create('/live-digest', { ...stream, window_minutes: 60, max_windows: 30 });
    expect(windows.message).toMatch(/ Limited to 86400 s by this server\.$/);
  });

  test('the message names ignored fields and the nearest known ones', async () => {
    const digest = await create('/live-digest', { ...stream, window_seconds: 60 });
    expect(digest.message).toBe(
      'Digest accepted. Poll GET /jobs/{job_id}. Ignored: window_seconds; did you mean window_minutes?',
    );
  });

  test('the message says that clips as long as the monitor may leave time for one check only', async () => {
    const clip = { ...monitor, input_mode: 'clip', clip_duration_seconds: 10 };
    expect((await create('/live-monitor', { ...clip, monitor_duration_seconds: 10 })).message).toMatch(
      / Clips of 10 s are not shorter than the monitor of 10 s: it may make one check only\.$/,
    );
    expect((await create('/live-monitor', { ...clip, monitor_duration_seconds: 11 })).notices).toEqual([]);
  });

  test('the message says that a monitor without input_mode uses frames of a stream of single pictures', async () => {
    world.c.streams.probe = async (url) => ({ platform: 'jpeg', playbackUrl: url, framesOnly: true });
    const { message, notices } = await create('/live-monitor', monitor);
    expect(message).toMatch(/ The stream gives single pictures: checks use input_mode frames\.$/);
    expect(notices).toHaveLength(1);
    expect((await create('/live-monitor', { ...monitor, input_mode: 'frames' })).notices).toEqual([]);
    const { body: jobs } = await client.call('GET', '/jobs');
    for (const { job_id: id } of jobs.jobs)
      expect((await client.call('GET', `/jobs/${id}`)).body.config.input_mode).toBe('frames');
  });

  test('the message says that a look back finds nothing in a stream of single pictures', async () => {
    const looking = { ...monitor, input_mode: 'frames', look_back: true };
    expect((await create('/live-monitor', looking)).notices).toEqual([]);
    world.c.streams.probe = async (url) => ({ platform: 'jpeg', playbackUrl: url, framesOnly: true });
    expect((await create('/live-monitor', looking)).notices).toEqual([
      'The stream gives single pictures: look_back finds none between checks.',
    ]);
  });

  test('the message says that a look back finds nothing in an RTSP stream on a host that only captures', async () => {
    const looking = { ...monitor, input_mode: 'frames', look_back: true };
    const camera = { ...looking, stream_url: 'rtsp://camera.example/live' };
    expect((await create('/live-monitor', camera)).notices).toEqual([
      'This service reads an RTSP stream in its checks only: look_back finds nothing between them.',
    ]);
    expect((await create('/live-monitor', { ...camera, look_back: false })).notices).toEqual([]);
    world.c.limits.wakesOnMotion = true;
    expect((await create('/live-monitor', camera)).notices).toEqual([]);
    expect((await create('/live-monitor', { ...camera, interval_seconds: 71 })).notices).toHaveLength(1);
  });

  test('the message says how much a look back scans between checks that are far apart', async () => {
    const looking = { ...monitor, input_mode: 'frames', look_back: true };
    expect((await create('/live-monitor', { ...looking, interval_seconds: 70 })).notices).toEqual([]);
    expect((await create('/live-monitor', { ...looking, interval_seconds: 71 })).notices).toEqual([
      'look_back scans the 70 s before each check only.',
    ]);
  });

  test('a monitor with clips of a stream of single pictures is rejected, and keeps no slot', async () => {
    world.c.streams.probe = async (url) => ({ platform: 'jpeg', playbackUrl: url, framesOnly: true });
    const { status, body } = await client.call('POST', '/live-monitor', { ...monitor, input_mode: 'clip' });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'INVALID_INPUT_MODE',
      message: 'Input mode clip needs a video stream, and this one gives single pictures',
      remediation: expect.stringContaining('frames'),
    });
    expect((await client.call('GET', '/jobs')).body.total).toBe(0);
  });

  test('the message warns of a blank condition', async () => {
    expect((await create('/live-monitor', { ...stream, condition: ' ' })).notices).toEqual([
      expect.stringMatching(/^The condition is blank/),
    ]);
  });

  test('the message has no notice if the job does what the request says', async () => {
    const { message, notices } = await create('/live-monitor', monitor);
    expect(message).toBe('Monitor accepted. Poll GET /jobs/{job_id}.');
    expect(notices).toEqual([]);
  });

  test('the message is the same for a repeated request with one idempotency key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const fields = { ...monitor, color: 'green' };
    const first = await client.call('POST', '/live-monitor', fields, headers);
    const second = await client.call('POST', '/live-monitor', fields, headers);
    expect(second.body.message).toBe(first.body.message);
    expect(second.body.message).toMatch(/Ignored: color\.$/);
  });
});

test('the event job_started has the notices of the creation, for readers of an event stream', async () => {
  const { body } = await client.call('POST', '/live-monitor', { ...monitor, color: 'green' });
  await world.begin({ run_id: body.job_id, generation: 0 });
  const { body: log } = await client.call('GET', `/jobs/${body.job_id}/events`);
  expect(log.events[0]).toMatchObject({ type: 'job_started', data: { notices: ['Ignored: color.'] } });
});

describe('a 422 says what to do next', () => {
  test('the 422 of a request without a content type names the header', async () => {
    const { status, body } = await client.call('POST', '/live-monitor', monitor, { 'content-type': '' });
    expect(status).toBe(422);
    expect(body.detail[0].ctx).toEqual({ remediation: 'Send the header "Content-Type: application/json".' });
  });

  test.each([
    [
      '/analyze-frame',
      { frame: 'AAAA', prompt: 'x' },
      'frame_b64',
      'This request has no field frame; did you mean frame_b64?',
    ],
    [
      '/analyze-frame',
      { frame: 'AAAA', prompt: 'x' },
      'question',
      'Send question. This request has no field frame, prompt.',
    ],
    [
      '/live-monitor',
      { url: 'x', condition: 'y' },
      'stream_url',
      'This request has no field url; did you mean stream_url?',
    ],
    [
      '/check-once',
      { ...stream, prompt: 'y' },
      'condition',
      'This request has no field prompt; did you mean condition?',
    ],
  ])('the 422 of %s with %j has the remedy for the field %s', async (path, fields, name, remediation) => {
    const { body } = await client.call('POST', path, fields);
    const detail = body.detail.find(({ loc }: { loc: string[] }) => loc[1] === name);
    expect(detail).toMatchObject({ type: 'missing', ctx: { remediation } });
  });

  test('a missing field has no further hint if no field is unknown', async () => {
    expect((await client.call('POST', '/live-monitor', stream)).body.detail[0]).not.toHaveProperty('ctx');
  });
});
