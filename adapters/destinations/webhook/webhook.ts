import type { Notification } from '../../../core/ports/destinations.ts';
import { jsonRequest, type HttpRequest } from '../http-request.ts';

/** Returns the request without its signature: the envelope of the interface, `{type, timestamp, source_url, data}`. */
export function toWebhookRequest(url: string, notification: Notification): HttpRequest {
  const { event, timestamp, sourceUrl } = notification;
  return jsonRequest(url, {
    type: event.type,
    timestamp,
    source_url: sourceUrl,
    data: toWebhookData(notification),
  });
}

/** Returns the data of the envelope. A stored event has a media key, which is replaced by a link and, on request, by the frame. */
export function toWebhookData(notification: Notification): Record<string, unknown> {
  const { event, watchId, watchName, sequence, labels, frame, frameUrl, includeFrame } = notification;
  const { frame_key: key, ...data } = { frame_key: undefined, ...event.data };
  const base64 = frame && Buffer.from(frame).toString('base64');
  return {
    watch_id: watchId,
    watch_name: watchName,
    sequence,
    labels,
    ...data,
    ...(key !== undefined && { frame_url: frameUrl }),
    ...((key !== undefined || event.type === 'test') && includeFrame && { frame_b64: base64 }),
  };
}
