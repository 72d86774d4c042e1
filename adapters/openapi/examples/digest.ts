import { frameBase64, jobId as monitorId, streamUrl, webhookUrl } from './jobs.ts';

/** Digest of the same lock, in windows of ten minutes. */

const jobId = monitorId.replace(/^7f1f/, '8a2b');

export const digestConfig = {
  window_minutes: 10,
  capture_interval_seconds: 60,
  max_windows: 2,
  digest_duration_seconds: 1200,
  input_mode: 'frames',
  include_frames: false,
  enable_prefilter: true,
};

export const digestRequest = { stream_url: streamUrl, window_minutes: 10, max_windows: 2 };
export const digestWebhookRequest = { ...digestRequest, webhook_url: webhookUrl, include_frames: true };

export const acceptedDigest = {
  job_id: jobId,
  status: 'pending',
  created_at: '2026-03-01T12:00:00.000Z',
  stream_url: streamUrl,
  job_type: 'live-digest',
  details: { ...digestConfig, delivery: 'polling', reason: null },
  message: 'Digest accepted. Poll GET /jobs/{job_id}.',
};

export const summaryGenerated = summaryEvent({ frame_grid_b64: frameBase64 });

export const digestStream = `id: 12\nevent: summary\ndata: ${JSON.stringify(summaryEvent({}))}\n`;

function summaryEvent(pictures: object) {
  return {
    type: 'summary_generated',
    timestamp: '2026-03-01T12:10:04.000Z',
    source_url: streamUrl,
    data: {
      job_id: jobId,
      sequence: 12,
      window_index: 1,
      window_start: '2026-03-01T12:00:01.000Z',
      window_end: '2026-03-01T12:10:01.000Z',
      partial: false,
      summary: 'Two barges passed downstream; between 12:04 and 12:07 the lock was empty.',
      frames_captured: 8,
      frames_skipped: 2,
      gaps: [],
      ...pictures,
    },
  };
}
