import type { Notification } from '../../../core/ports/destinations.ts';
import { findAlert, shorten } from '../describe.ts';
import { toWebhookData } from '../webhook/webhook.ts';

/** Message of MQTT. A retained one is kept by the broker for later subscribers. */
export type Publication = { topic: string; payload: string | Uint8Array; retain: boolean };

/**
 * Returns the messages of a notification: the event as JSON, and entities of Home Assistant by its discovery, one binary sensor per condition, one for
 * the stream and a camera with the newest evidence (home-assistant.io/integrations/mqtt/#mqtt-discovery). Repeating them changes nothing.
 */
export function toPublications(notification: Notification): Publication[] {
  const { watchId, event, timestamp, frame } = notification;
  const topic = `watchpost/${watchId}`;
  const data = toWebhookData({ ...notification, includeFrame: false });
  const json = JSON.stringify({ type: event.type, timestamp, data });
  return [
    { topic: `${topic}/event`, payload: json, retain: false },
    ...discover(notification, topic),
    ...states(notification, topic, json),
    ...(frame === null ? [] : [{ topic: `${topic}/frame`, payload: frame, retain: true }]),
  ];
}

/** Announces the entities of all conditions. An empty retained message removes an entity. */
function discover(notification: Notification, topic: string): Publication[] {
  const { watchId, watchName, conditions, event } = notification;
  const shared = {
    device: {
      identifiers: [`watchpost_${watchId}`],
      name: shorten(watchName, 120),
      manufacturer: 'Watchpost',
    },
    origin: { name: 'Watchpost' },
  };
  const isDeleted = event.type === 'alert_closed' && event.data.reason === 'deleted';
  const config = (component: string, name: string, content: object): Publication => ({
    topic: `homeassistant/${component}/watchpost_${watchId}/${name}/config`,
    payload: isDeleted
      ? ''
      : JSON.stringify({ unique_id: `watchpost_${watchId}_${name}`, ...content, ...shared }),
    retain: true,
  });
  const removed =
    event.type === 'alert_closed' && event.data.reason === 'removed' ? [event.data.condition_id] : [];
  return [
    ...conditions.map(({ condition_id: id, condition }) =>
      config('binary_sensor', `condition_${id}`, {
        name: shorten(condition, 120),
        state_topic: `${topic}/condition/${id}`,
        json_attributes_topic: `${topic}/condition/${id}/event`,
      }),
    ),
    ...removed
      .filter((id) => conditions.every((condition) => condition.condition_id !== id))
      .map((id) => ({ ...config('binary_sensor', `condition_${id}`, {}), payload: '' })),
    config('binary_sensor', 'stream', {
      name: 'Stream',
      device_class: 'connectivity',
      state_topic: `${topic}/stream`,
    }),
    config('camera', 'frame', { name: 'Evidence', topic: `${topic}/frame` }),
  ];
}

/** Returns the states that the event changes. A new watch begins without alerts and with a stream. */
function states({ event, conditions }: Notification, topic: string, json: string): Publication[] {
  const condition = (id: string, payload: string): Publication => ({
    topic: `${topic}/condition/${id}`,
    payload,
    retain: true,
  });
  const stream = (payload: string): Publication => ({ topic: `${topic}/stream`, payload, retain: true });
  if (event.type === 'stream_lost') return [stream('OFF')];
  if (event.type === 'stream_recovered') return [stream('ON')];
  if (event.type === 'watch_changed')
    return event.data.reason === 'created'
      ? [stream('ON'), ...conditions.map(({ condition_id: id }) => condition(id, 'OFF'))]
      : [];
  const alert = findAlert(event);
  if (alert === null) return [];
  return [
    condition(alert.condition_id, event.type === 'alert_closed' ? 'OFF' : 'ON'),
    { topic: `${topic}/condition/${alert.condition_id}/event`, payload: json, retain: true },
  ];
}
