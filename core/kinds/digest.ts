import type { DigestJob } from '../records/job.ts';
import type { JobKind } from './job-kind.ts';

export const digestKind: JobKind<DigestJob> = {
  name: 'Digest',
  intervalSeconds: ({ config }) => config.capture_interval_seconds,
  durationSeconds: ({ config }) => config.digest_duration_seconds,
  sightEnd: ({ end }) => end && end.at,
  mapTimes: (state, { past, other }) => ({
    ...state,
    windows: state.windows.map((window) => ({
      ...window,
      samples: window.samples.map((sample) => ({ ...sample, captured_at: other(sample.captured_at) })),
    })),
    end: state.end && { ...state.end, at: past(state.end.at) },
  }),
  findings: { type: 'summary_generated', name: 'summaries' },
  stats: ({ summarized }) => ({ windows_summarized: summarized }),
};
