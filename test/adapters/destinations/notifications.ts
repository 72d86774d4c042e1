import { randomUUID } from 'node:crypto';
import type { Notification, NotifiedEvent } from '../../../core/ports/delivery.ts';

export const alertId = 'b8e0ff52-5d22-5c3a-9f70-6f8d0f2e7a31';
export const watchId = '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001';

/** Texts of strangers: the condition of a caller, and what a model read in the stream. */
export const hostile =
  '<!channel> @everyone [x](https://evil.example) *b* & <b>\r\nBcc: a@evil.example 🚚'.repeat(30);

const alert = {
  alert_id: alertId,
  condition_id: 'truck',
  condition: 'a truck blocks the gate',
  severity: 'critical' as const,
  opened_at: '2026-03-01T12:00:00.000Z',
};
const frame_key = 'media/evidence.jpg';

/** One notification of each type. */
export const events: Record<NotifiedEvent['type'], NotifiedEvent> = {
  alert_opened: {
    type: 'alert_opened',
    data: {
      ...alert,
      explanation: 'A white truck stands across the gate.',
      checks: [
        { checked_at: '2026-03-01T11:59:50.000Z', triggered: true },
        { checked_at: '2026-03-01T12:00:00.000Z', triggered: true },
      ],
      frame_key,
    },
  },
  alert_reminder: {
    type: 'alert_reminder',
    data: { ...alert, open_seconds: 3_661, explanation: 'The truck is still there.', frame_key },
  },
  alert_acknowledged: { type: 'alert_acknowledged', data: { ...alert, by: 'night shift' } },
  alert_closed: {
    type: 'alert_closed',
    data: {
      ...alert,
      closed_at: '2026-03-01T13:05:00.000Z',
      open_seconds: 3_900,
      seen_seconds: 3_900,
      reason: 'cleared',
      explanation: 'The gate is free.',
      frame_key,
    },
  },
  alert_clip: {
    type: 'alert_clip',
    data: {
      ...alert,
      clip_key: 'clips/clip.mp4',
      from: '2026-03-01T11:59:52.000Z',
      to: '2026-03-01T12:00:08.000Z',
      bytes: 2_000_000,
      codec: 'avc1',
      reason: null,
      opening: 3,
    },
  },
  stream_lost: {
    type: 'stream_lost',
    data: { reason: 'unreachable', lost_seconds: 75, open_alerts: [alertId] },
  },
  stream_recovered: {
    type: 'stream_recovered',
    data: { reason: 'unreachable', lost_seconds: 600, open_alerts: [alertId] },
  },
  watch_changed: { type: 'watch_changed', data: { status: 'paused', reason: 'paused' } },
  heartbeat: { type: 'heartbeat', data: {} },
  test: { type: 'test', data: { message: 'This is a test alert: nothing has happened.' } },
};

/** JPEG that a receiver can recognize by its first and last bytes. */
export const frame = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3, 0xff, 0xd9]);

export function notify(
  type: NotifiedEvent['type'],
  overrides: Partial<Notification> = {},
  data: object = {},
): Notification {
  const event = { ...events[type], data: { ...events[type].data, ...data } } as NotifiedEvent;
  return {
    id: `msg_${randomUUID()}`,
    caller: 'harbour',
    watchId,
    watchName: 'Gate 3',
    labels: ['north'],
    conditions: [{ condition_id: 'truck', condition: 'a truck blocks the gate' }],
    sequence: 17,
    current: { openConditions: ['truck'], isStreamLost: false },
    timestamp: '2026-03-01T12:00:00.000Z',
    sourceUrl: 'rtsp://viewer:***@camera.example/gate',
    event,
    frame: 'frame_key' in event.data || type === 'test' ? frame : null,
    frameUrl: null,
    isPublic: true,
    includeFrame: false,
    timeZone: 'Europe/Berlin',
    model: 'qwen3-vl:4b',
    console: {
      url: `https://watch.example.com/console#/alerts/${alertId}`,
      note: '',
    },
    ...overrides,
  };
}
