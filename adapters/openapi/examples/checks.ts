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
