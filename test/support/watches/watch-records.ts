import { createLinkSigner } from '../../../adapters/signers.ts';
import type {
  Budget,
  Destination,
  DestinationAddress,
  Schedule,
  Severity,
  Watch,
  WatchCondition,
  WatchConfig,
  WatchSecrets,
} from '../../../core/records/watch.ts';
import type { Region } from '../../../core/records/capture.ts';
import type { WatchPatch, WatchRequest } from '../../../core/requests/watches.ts';

/** Records of watches for tests: valid, with every field set. */

export const watchId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const severity: Severity = 'warning';

export const gateRequest: WatchRequest = {
  name: 'Gate',
  stream_url: 'rtsp://user:secret@camera.example/1',
  interval_seconds: 10,
  input_mode: 'frames',
  clip_duration_seconds: 3,
  enable_prefilter: true,
  look_back: true,
  follow: false,
  conditions: [
    {
      condition: 'A person is at the gate',
      alert_on: 'by_checks',
      checks_to_open: 2,
      checks_considered: 3,
      open_after_seconds: 0,
      checks_to_close: 3,
      close_after_seconds: 0,
      cooldown_seconds: 0,
      remind_seconds: null,
      severity,
      sensitivity: 'normal',
    },
  ],
  confirm_seconds: 2,
  schedule: null,
  budget: null,
  destinations: [],
  regions: null,
  retention_days: 7,
  memory_days: null,
  scene: true,
  labels: [],
};

export const gatePatch: WatchPatch = { name: 'Gate, north' };

export const schedule: Schedule = {
  time_zone: 'Europe/Berlin',
  active: [{ days: ['mon'], from: '18:00', to: '06:00' }],
};
export const budget: Budget = { model_calls_per_day: 1000, usd_per_day: null };
export const region: Region = {
  mode: 'include',
  points: [
    [0, 0],
    [1, 0],
    [1, 1],
  ],
};
export const destination: Destination = {
  destination_id: 'team',
  type: 'slack',
  url_masked: 'https://hooks.slack.example/***',
  fingerprint: '0123456789abcdef',
  notify: 'openings_and_closings',
  min_severity: severity,
  include_frame: false,
  include_clip: true,
};
export const address: DestinationAddress = {
  destination_id: 'team',
  type: 'slack',
  url: 'https://hooks.slack.example/T1/B1/secret',
};
export const secrets: WatchSecrets = { watch_id: watchId, destinations: [address] };

export function newCondition(fields: Partial<WatchCondition> = {}): WatchCondition {
  return {
    condition_id: 'person',
    condition: 'A person is at the gate',
    checks_to_open: 2,
    checks_considered: 3,
    checks_to_close: 3,
    close_after_seconds: 0,
    cooldown_seconds: 0,
    remind_seconds: null,
    severity,
    ...fields,
  };
}

export function newWatchConfig(fields: Partial<WatchConfig> = {}): WatchConfig {
  return {
    name: 'Gate',
    interval_seconds: 10,
    input_mode: 'frames',
    clip_duration_seconds: 3,
    enable_prefilter: true,
    look_back: true,
    follow: false,
    conditions: [newCondition()],
    confirm_seconds: 2,
    schedule,
    budget,
    destinations: [destination],
    regions: [region],
    retention_days: 7,
    memory_days: 3,
    evidence_clip: null,
    scene: true,
    labels: ['yard'],
    ...fields,
  };
}

export function newWatch(fields: Partial<Watch> = {}): Watch {
  return {
    run_id: watchId,
    policy: 'watch',
    caller: 'alice',
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    config_version: 1,
    stream_url: 'rtsp://user:***@camera.example/1',
    stream_fingerprint: '0d1c2b3a4f5e6d7c',
    source_id: '9b2f6a52-5c3e-4b8e-8d8e-5a1f0f6c7d21',
    stream_phase: null,
    config: newWatchConfig(),
    ...fields,
  };
}

/** Links to evidence of a service without a public URL. */
export const evidenceLinks = {
  signer: createLinkSigner(async () => new Uint8Array(32)),
  origin: 'http://localhost',
  isPublic: false,
};

/** Facts of a service in messages. */
export const messageFacts = { model: 'pixel', timeZone: 'UTC' };
