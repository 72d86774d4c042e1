import type { Notification } from '../../../core/ports/delivery.ts';
import type { PermanentStatuses } from '../http-sender.ts';

/** Receiver of Standard Webhooks, of a job or a watch: 410 ends its deliveries. */
export const webhookStatuses: PermanentStatuses = { gone: [410], rejected: [] };

/** Returns the envelope of the interface, `{type, timestamp, source_url, data}`. */
export function toEnvelope(notification: Notification) {
  const { event, timestamp, sourceUrl } = notification;
  return { type: event.type, timestamp, source_url: sourceUrl, data: toWebhookData(notification) };
}

/**
 * Returns the data of the envelope. A stored event has a media key, which is replaced by a link and, on request, by the
 * frame.
 */
export function toWebhookData(notification: Notification): Record<string, unknown> {
  const { event, watchId, watchName, sequence, labels, frame, frameUrl, includeFrame } = notification;
  const {
    frame_key: key,
    clip_key: clipKey,
    opening: _,
    ...data
  } = {
    frame_key: undefined,
    clip_key: undefined,
    opening: undefined,
    ...event.data,
  };
  const base64 = frame && Buffer.from(frame).toString('base64');
  return {
    watch_id: watchId,
    watch_name: watchName,
    sequence,
    labels,
    ...data,
    ...(key !== undefined && { frame_url: frameUrl }),
    ...(clipKey !== undefined && { clip_url: frameUrl }),
    ...((key !== undefined || event.type === 'test') && includeFrame && { frame_b64: base64 }),
  };
}
