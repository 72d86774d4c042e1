import { jobId, webhookUrl } from './jobs.ts';
import { watch } from './watches.ts';

const refused = {
  time: '2026-03-01T12:00:13.120Z',
  status: 503,
  latency_ms: 84,
  error: 'HTTP 503',
  resend: 0,
};

export const deliveryPage = {
  job_id: jobId,
  webhook_url: webhookUrl,
  webhook_events: null,
  deliveries: [
    {
      sequence: 4,
      type: 'watch_triggered',
      state: 'delivered',
      resend: 0,
      attempts: [
        refused,
        { ...refused, time: '2026-03-01T12:00:18.400Z', status: 204, latency_ms: 61, error: null },
      ],
      next_attempt_at: null,
      error: null,
    },
  ],
  next_after: 4,
  has_more: false,
};

export const resent = {
  job_id: jobId,
  sequence: 4,
  type: 'watch_triggered',
  resend: 1,
  message: 'The event is sent again. Read GET /jobs/{job_id}/deliveries for the result.',
};

export const watchDeliveryPage = {
  watch_id: watch.watch_id,
  deliveries: deliveryPage.deliveries.map((delivery) => ({
    destination_id: 'team',
    ...delivery,
    type: 'alert_opened',
  })),
  next_after: 4,
  has_more: false,
};

export const watchResent = {
  watch_id: watch.watch_id,
  destination_id: 'team',
  sequence: 4,
  type: 'alert_opened',
  resend: 1,
  message: 'The event is sent again. Read GET /watches/{watch_id}/deliveries for the result.',
};

export const testDelivered = { status: 204, latency_ms: 61, error: null };
export const testRefused = { status: 404, latency_ms: 58, error: 'HTTP 404' };

export const secret = {
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  version: 1,
  previous_valid_until: null,
  fingerprint_key: 'Q7wJ0X5c1o9dZk2n8sVbR4yTfLhGmUeAiPqDxWvNjE0',
};

export const testEvent = {
  type: 'test',
  timestamp: '2026-03-01T12:00:00.000Z',
  source_url: 'https://watchpost.example.com/api',
  data: { message: 'This is a test event: nothing has happened.' },
};

export const webhookDefaults = { webhook_events: ['watch_triggered', 'summary_generated', 'error'] };
