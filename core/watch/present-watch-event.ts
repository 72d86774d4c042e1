import type { z } from 'zod';
import type { Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { watchEventResponseSchema } from '../responses/watch-events.ts';
import { maskUrl } from '../stream/mask-url.ts';

export type PresentedWatchEvent = z.input<typeof watchEventResponseSchema>;

/** Returns an event of a watch for a page of the log or an event stream. Images are links. */
export function presentWatchEvent(watch: Watch, event: WatchEvent, baseUrl: string): PresentedWatchEvent {
  const shared = { timestamp: event.timestamp, source_url: findSourceUrl(watch, event) };
  const { watch_id, watch_name, sequence, labels } = event;
  const position = { watch_id, watch_name, sequence, labels };
  switch (event.type) {
    case 'alert_opened': {
      const { frame_key: key, ...data } = event.data;
      return {
        type: event.type,
        ...shared,
        data: { ...position, ...data, frame_url: link(key, data.alert_id) },
      };
    }
    case 'alert_reminder': {
      const { frame_key: key, ...data } = event.data;
      return {
        type: event.type,
        ...shared,
        data: { ...position, ...data, frame_url: link(key, data.alert_id) },
      };
    }
    case 'alert_closed': {
      const { frame_key: key, ...data } = event.data;
      const url = link(key, data.alert_id, '?moment=closed');
      return { type: event.type, ...shared, data: { ...position, ...data, frame_url: url } };
    }
    case 'alert_acknowledged':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'alert_clip': {
      const { clip_key: key, opening: _, ...data } = event.data;
      return {
        type: event.type,
        ...shared,
        data: { ...position, ...data, clip_url: clipLink(key, data.alert_id, baseUrl) },
      };
    }
    case 'stream_lost':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'stream_recovered':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'watch_changed':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
    case 'progress':
      return { type: event.type, ...shared, data: { ...position, ...event.data } };
  }

  function link(key: string | null, alertId: string, query = ''): string | null {
    return key === null ? null : `${baseUrl}/alerts/${alertId}/frame${query}`;
  }
}

/** Returns the URL of the clip of an alert; `null` without one. */
export function clipLink(key: string | null, alertId: string, baseUrl: string): string | null {
  return key === null ? null : `${baseUrl}/alerts/${alertId}/clip`;
}

/** Returns the masked URL of the stream at the time of an event. */
export function findSourceUrl(
  { stream_url: present, former_streams: former = [] }: Watch,
  { sequence }: Pick<WatchEvent, 'sequence'>,
): string {
  const configuration = former.find(({ last_sequence: last }) => sequence <= last);
  return maskUrl(configuration?.stream_url ?? present);
}
