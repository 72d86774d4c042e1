import { frameBase64, streamUrl } from './jobs.ts';

export const checkedOnce = {
  triggered: true,
  explanation: 'A barge lies between the gates.',
  latency_ms: 3120,
};

export const checkedWithFrame = { ...checkedOnce, frame_b64: frameBase64 };

export const frameAnswer = {
  answer: 'Yes: a barge lies between the gates.',
  triggered: true,
  latency_ms: 1480,
  frame_b64: null,
};

export const openAnswer = {
  answer: 'A red barge, two people on its deck, and a closed gate behind it.',
  triggered: null,
  latency_ms: 1710,
  frame_b64: null,
};

export const liveStream = {
  is_live: true,
  platform: 'hls',
  parsed_url: streamUrl,
};

export const offlineStream = {
  is_live: false,
  platform: 'hls',
  error_hint: 'URL is not a live stream. Give the URL of a broadcast that is live now.',
};

export const adviceRequest = { condition: 'Alert me when a car is in front of the gate for 5 minutes' };

export const advice = {
  findings: [
    {
      code: 'instruction',
      message: 'A condition is a statement about the picture, not a request. Leave the request out.',
    },
    {
      code: 'duration',
      message:
        'A check sees one moment, and cannot know how long it lasts. Leave the time out, and let a watch alert after it has held for so long (open_after_seconds).',
    },
  ],
  suggestion: {
    conditions: ['A car is in front of the gate.'],
    interval_seconds: 10,
    input_mode: 'frames',
    checks_to_open: 2,
    checks_considered: 3,
    open_after_seconds: 300,
    active: null,
  },
  forecast: {
    model: 'us.amazon.nova-lite-v1:0',
    model_calls_per_day: 2880,
    max_model_calls_per_day: 86_400,
    frames_per_day: 2880,
    usd_per_day: 0.26,
    usd_per_month: 7.72,
    max_usd_per_day: 7.72,
    shortest_visit_seconds: 48,
    with_look_back: {
      model_calls_per_day: 2880,
      max_model_calls_per_day: 86_400,
      frames_per_day: 11_520,
      usd_per_day: 0.8,
      usd_per_month: 23.9,
      max_usd_per_day: 23.9,
      shortest_visit_seconds: 48,
    },
  },
};
