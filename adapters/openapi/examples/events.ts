import { condition, frameBase64, jobId, monitorConfig, streamUrl } from './jobs.ts';

/** Event log of the example monitor, as webhooks and event streams deliver it. */

export const jobStarted = event('job_started', 1, '12:00:01', {
  job_type: 'live-monitor',
  status: 'running',
  config: monitorConfig,
  events_url: `https://watchpost.example.com/api/jobs/${jobId}/events`,
});

export const progress = event('progress', 2, '12:00:03', {
  check: 1,
  checks_performed: 1,
  frames_skipped: 0,
  triggers_fired: 0,
  triggered: false,
  prefilter_skipped: false,
  motion: null,
  explanation: 'The lock is empty, both gates are closed.',
  captured_at: '2026-03-01T12:00:02.000Z',
  stream: 'ok',
  picture: 'ok',
  next_check_at: '2026-03-01T12:00:11.000Z',
});

const alert = {
  condition,
  triggered: true,
  explanation: 'A barge lies between the gates.',
  prefilter_skipped: false,
  captured_at: '2026-03-01T12:00:12.000Z',
  triggers_fired: 1,
};

export const watchTriggered = event('watch_triggered', 4, '12:00:13', { ...alert, frame_b64: frameBase64 });

export const loggedWatchTriggered = event('watch_triggered', 4, '12:00:13', {
  ...alert,
  boxes: [{ label: 'boat', score: 0.74, x: 0.31, y: 0.42, width: 0.28, height: 0.17 }],
  frame_url: `https://watchpost.example.com/api/jobs/${jobId}/media/4`,
});

export const failed = event('error', 4, '12:01:20', {
  code: 'STREAM_FETCH_FAILED',
  message: 'Failed to fetch stream',
  remediation: 'Check that the stream is up, and start a new job.',
});

export const jobStopped = event('job_stopped', 5, '12:00:13', {
  status: 'completed',
  reason: 'condition_triggered',
  checks_performed: 2,
  triggers_fired: 1,
  frames_skipped: 0,
  auto_stopped: false,
  watch_duration_seconds: 12.4,
});

export const eventPage = {
  job_id: jobId,
  status: 'completed',
  events: [jobStarted, progress, loggedWatchTriggered, jobStopped],
  next_after: 5,
  has_more: false,
};

/** The same log in the format of server-sent events. */
export const monitorStream = [
  frame('started', jobStarted),
  frame('progress', progress),
  ': still here\n',
  frame('triggered', watchTriggered),
  frame('stopped', jobStopped),
].join('\n');

function frame(name: string, sent: { data: { sequence: number } }): string {
  return `id: ${sent.data.sequence}\nevent: ${name}\ndata: ${JSON.stringify(sent)}\n`;
}

function event(type: string, sequence: number, time: string, data: object) {
  return {
    type,
    timestamp: `2026-03-01T${time}.000Z`,
    source_url: streamUrl,
    data: { job_id: jobId, sequence, ...data },
  };
}
