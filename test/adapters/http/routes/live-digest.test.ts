import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../../../adapters/http/app.ts';
import { mintKey } from '../../../../core/access/api-key.ts';
import type { WorkflowState } from '../../../../core/records/workflow.ts';
import { openEvents } from '../../../support/api/event-stream.ts';
import { createHttpCaller } from '../../../support/api/http-caller.ts';
import { createWorld, type World } from '../../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

const stream = { stream_url: 'https://example.com/live.m3u8' };
const aWindow = { ...stream, window_minutes: 1, capture_interval_seconds: 30, max_windows: 1 };

async function watchedToItsEnd(jobId: string): Promise<void> {
  let step: WorkflowState = await world.begin({ run_id: jobId, generation: 0 });
  while (!step.done) step = await world.tick(step);
}

describe('POST /live-digest', () => {
  test('a digest accepts null for max_windows and the ends of each range', async () => {
    const ends = { window_minutes: 60, capture_interval_seconds: 10, max_windows: null };
    expect((await call('POST', '/live-digest', { ...stream, ...ends })).body.details).toMatchObject(ends);
    const others = { window_minutes: 1, capture_interval_seconds: 300, max_windows: 1 };
    expect((await call('POST', '/live-digest', { ...stream, ...others })).body.details).toMatchObject(others);
  });

  test('a digest counts toward the ten active jobs', async () => {
    for (let job = 0; job < 10; job += 1) await call('POST', '/live-digest', stream);
    expect((await call('POST', '/live-digest', stream)).status).toBe(429);
  });

  test('a digest with Accept: text/event-stream streams its events until stopped, with the grid as base64', async () => {
    const minted = mintKey({ caller: 'harbour', scopes: ['jobs'], label: null }, world.c.now(), world.c);
    await world.c.keys.put(minted.key);
    const response = await createApp(world.c).request('/api/live-digest', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${minted.text}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ ...aWindow, include_frames: true }),
    });
    const { jobs } = await world.c.jobs.list({ caller: 'harbour', limit: 1, offset: 0 }, world.c.now());
    await watchedToItsEnd(jobs[0]!.run_id);
    const events = await openEvents(response).rest();
    expect(events.map(({ event }) => event)).toEqual([
      'started',
      'progress',
      'progress',
      'summary',
      'stopped',
    ]);
    expect(events[3]?.data.data).toMatchObject({
      window_index: 1,
      summary: 'Nothing happened.',
      partial: false,
      frame_grid_b64: Buffer.from([255, 216, 2]).toString('base64'),
    });
  });
});

test('a digest can be listed and read, and a cancellation returns its last summary', async () => {
  const { body: created } = await call('POST', '/live-digest', { ...aWindow, max_windows: 5 });
  const path = `/jobs/${created.job_id}`;
  await world.tick(await world.begin({ run_id: created.job_id, generation: 0 }));
  world.advance(10);
  expect((await call('GET', '/jobs?job_type=live-digest')).body.total).toBe(1);
  expect((await call('GET', '/jobs?job_type=live-monitor')).body.total).toBe(0);
  const cancelled = await call('DELETE', path);
  expect(cancelled).toMatchObject({
    status: 200,
    body: { status: 'stopped', final_stats: { reason: 'cancelled', windows_summarized: 1 } },
  });
  const { body: read } = await call('GET', path);
  expect(read.stats.summaries).toMatchObject([
    { type: 'summary_generated', data: { window_index: 1, partial: true } },
  ]);
  expect((await call('DELETE', path)).body.error.code).toBe('JOB_ALREADY_STOPPED');
});
