import { expect, test } from 'vitest';
import type { JobEvent } from '../../../core/records/event.ts';
import { envelopeWithLinks, envelopeWithImages } from '../../../core/event/present-event.ts';
import { after, newJob, start } from '../../contract/records.ts';

const job = newJob();
const baseUrl = 'https://watchpost.test/api';
const media = (image?: Uint8Array) => ({
  baseUrl,
  media: { put: async () => undefined, get: async () => image },
});

function summary(grid: { frame_grid_key?: string }): JobEvent {
  return {
    type: 'summary_generated',
    job_id: job.run_id,
    sequence: 7,
    timestamp: start.toISOString(),
    data: {
      window_index: 1,
      window_start: start.toISOString(),
      window_end: after(60).toISOString(),
      partial: false,
      summary: 'Nothing moved.',
      frames_captured: 6,
      frames_skipped: 0,
      gaps: [],
      ...grid,
    },
  };
}

test('a frame grid is a link in a page and base64 in a webhook, without its media key', async () => {
  const event = summary({ frame_grid_key: 'captures/a/grid.jpg' });
  const linked = envelopeWithLinks(job, event, { baseUrl }).data;
  const pushed = (await envelopeWithImages(job, event, media(new Uint8Array([255, 216])))).data;

  expect(linked).toMatchObject({
    summary: 'Nothing moved.',
    frame_grid_url: `${baseUrl}/jobs/${job.run_id}/media/7`,
  });
  expect(pushed).toMatchObject({ summary: 'Nothing moved.', frame_grid_b64: '/9g=' });
  for (const data of [linked, pushed]) expect(data).not.toHaveProperty('frame_grid_key');
});

test('an expired image is null', async () => {
  const event = summary({ frame_grid_key: 'captures/a/grid.jpg' });
  expect((await envelopeWithImages(job, event, media())).data).toMatchObject({ frame_grid_b64: null });
});

test('the fields of the frame grid are absent unless it was requested', async () => {
  const event = summary({});
  expect(Object.keys(envelopeWithLinks(job, event, { baseUrl }).data)).not.toContain('frame_grid_url');
  expect(Object.keys((await envelopeWithImages(job, event, media())).data)).not.toContain('frame_grid_b64');
});

test('a stored failure with an unknown code is presented as INTERNAL_ERROR', async () => {
  const event = (code: string): JobEvent => ({
    type: 'error',
    job_id: job.run_id,
    sequence: 3,
    timestamp: start.toISOString(),
    data: { code, message: 'Failed', remediation: 'Start a new job.' },
  });

  const readCode = (code: string) => envelopeWithLinks(job, event(code), { baseUrl }).data;

  expect(readCode('STREAM_FETCH_FAILED')).toMatchObject({ code: 'STREAM_FETCH_FAILED' });
  expect(readCode('CODE_OF_ANOTHER_RELEASE')).toMatchObject({ code: 'INTERNAL_ERROR' });
});
